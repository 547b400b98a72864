// The lines of a log that are shown: a stretch around one byte, longer at either end as the reader
// asks. Of a stretch that grows too long the other end goes.
import { batch, computed, signal } from "@preact/signals";
import { asProblem, fetchRunLog, isAbort, type Problem } from "../api/client";
import type { LogLine, RunLog } from "../api/types";

const kLinesAround = 20;
const kLinesMore = 100;
const kLinesFollowed = 500; // at once, the server's own limit
const kLinesMax = 2_000;

interface Shown {
  lines: LogLine[];
  chosen: number | null; // offset of the line that was asked for
  sizeBytes: number;
  followsEnd: boolean; // the last of the lines came by themselves
}

const kEnd = { before: 2 * kLinesAround, after: kLinesAround };

export class RunLogStore {
  readonly shown = signal<Shown>({
    lines: [],
    chosen: null,
    sizeBytes: 0,
    followsEnd: false,
  });
  readonly nextOffset = signal(0);
  readonly problem = signal<Problem | null>(null);
  readonly isLoading = signal(true);
  readonly hasEarlier = computed(() => (this.shown.value.lines[0]?.offset ?? 0) > 0);
  readonly hasLater = computed(() => this.nextOffset.value < this.shown.value.sizeBytes);
  private request = new AbortController();
  private endedAtLast = false; // the log did, when its last lines were asked for
  private followedBytes = 0;
  private lacksEnd = false; // what came could not be asked for, and who saw the end waits for it

  constructor(readonly id: number) {}

  async lookAt(at: number | "end"): Promise<void> {
    const query =
      at === "end" ? kEnd : { offset: at, before: kLinesAround, after: kLinesAround };
    await this.ask(query, (log) => ({
      lines: log.lines,
      chosen: log.lines[log.at]?.offset ?? null,
      sizeBytes: log.size_bytes,
      followsEnd: false,
    }));
  }

  async showEarlier(): Promise<void> {
    const first = this.shown.value.lines[0]?.offset ?? 0;
    if (first === 0) return;
    const isShown = await this.ask(
      { offset: first - 1, before: kLinesMore, after: 0 },
      (log, shown) => ({
        ...shown,
        lines: [...log.lines.filter(({ offset }) => offset < first), ...shown.lines],
        followsEnd: false,
      }),
    );
    if (isShown) this.dropLast();
  }

  private dropLast(): void {
    const { lines } = this.shown.value;
    const dropped = lines[kLinesMax];
    if (!dropped) return;
    batch(() => {
      this.shown.value = { ...this.shown.value, lines: lines.slice(0, kLinesMax) };
      this.nextOffset.value = dropped.offset;
    });
    this.endedAtLast = false;
  }

  async showLater(): Promise<void> {
    await this.append({ count: kLinesMore, isFollowing: false });
  }

  // The log is known to hold so many bytes by now. Who sees its end goes on seeing it, and misses
  // lines where more came than are asked for at once.
  async follow(sizeBytes: number, seesLast: boolean): Promise<void> {
    const isReady = !this.isLoading.value && this.problem.value === null;
    if (!isReady || sizeBytes <= this.followedBytes) return;
    this.followedBytes = sizeBytes;
    const shown = this.shown.value;
    if (sizeBytes <= shown.sizeBytes) return;
    const sawEnd = seesLast && (this.lacksEnd || this.nextOffset.value >= shown.sizeBytes);
    this.shown.value = { ...shown, sizeBytes };
    if (!sawEnd) return;
    this.lacksEnd = !(await this.append({ count: kLinesFollowed, isFollowing: true }));
    if (this.lacksEnd || this.endedAtLast) return;
    const take = (log: RunLog, { chosen }: Shown) => ({
      lines: log.lines,
      chosen,
      sizeBytes: log.size_bytes,
      followsEnd: true,
    });
    this.lacksEnd = !(await this.ask(kEnd, take, false));
  }

  stop(): void {
    this.request.abort();
  }

  // Where the log ended, its last line may have been written in part: it is asked for again.
  private async append(wanted: { count: number; isFollowing: boolean }): Promise<boolean> {
    const last = this.endedAtLast ? this.shown.value.lines.at(-1) : undefined;
    const from = last?.offset ?? this.nextOffset.value;
    const take = (log: RunLog, shown: Shown) => ({
      ...shown,
      sizeBytes: log.size_bytes,
      lines: [
        ...shown.lines.filter(({ offset }) => offset < from),
        ...log.lines.filter(({ offset }) => offset >= from),
      ].slice(-kLinesMax),
      followsEnd: wanted.isFollowing,
    });
    const query = { offset: from, before: 0, after: wanted.count };
    return this.ask(query, take, !wanted.isFollowing);
  }

  // `isWanted`: by the reader, who is told of a problem in place of the lines. False where there
  // was one.
  private async ask(
    parameters: Record<string, number>,
    take: (log: RunLog, shown: Shown) => Shown,
    isWanted = true,
  ): Promise<boolean> {
    this.request.abort();
    if (isWanted) this.lacksEnd = false;
    const request = new AbortController();
    this.request = request;
    this.isLoading.value = true;
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(parameters)) query.set(key, String(value));
    try {
      const log = await fetchRunLog(this.id, query, request.signal);
      if (this.request !== request) return true;
      batch(() => {
        const reachedBefore = parameters.after === 0 ? this.nextOffset.value : 0;
        this.shown.value = take(log, this.shown.value);
        this.nextOffset.value = Math.max(reachedBefore, log.next_offset);
        if (parameters.after !== 0) this.endedAtLast = log.next_offset >= log.size_bytes;
        this.problem.value = null;
        this.isLoading.value = false;
      });
      return true;
    } catch (error) {
      if (isAbort(error)) return true;
      batch(() => {
        if (isWanted) this.problem.value = asProblem(error);
        this.isLoading.value = false;
      });
      return false;
    }
  }
}
