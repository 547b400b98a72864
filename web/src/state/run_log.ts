// The lines of a log that are shown: a stretch around one byte, longer at either end as the reader
// asks.
import { batch, computed, signal } from "@preact/signals";
import { asProblem, fetchRunLog, isAbort, type Problem } from "../api/client";
import type { LogLine, RunLog } from "../api/types";

const kLinesAround = 20;
const kLinesMore = 100;
const kLinesMax = 2_000;

interface Shown {
  lines: LogLine[];
  chosen: number | null; // offset of the line that was asked for
  sizeBytes: number;
}

export class RunLogStore {
  readonly shown = signal<Shown>({ lines: [], chosen: null, sizeBytes: 0 });
  readonly nextOffset = signal(0);
  readonly problem = signal<Problem | null>(null);
  readonly isLoading = signal(true);
  readonly hasEarlier = computed(
    () => (this.shown.value.lines[0]?.offset ?? 0) > 0 && this.hasRoom(),
  );
  readonly hasLater = computed(
    () => this.nextOffset.value < this.shown.value.sizeBytes && this.hasRoom(),
  );
  private request = new AbortController();

  constructor(readonly id: number) {}

  async lookAt(at: number | "end"): Promise<void> {
    const query: Record<string, number> = { before: kLinesAround, after: kLinesAround };
    if (at === "end") query.before = 2 * kLinesAround;
    else query.offset = at;
    await this.ask(query, (log) => ({
      lines: log.lines,
      chosen: log.lines[log.at]?.offset ?? null,
      sizeBytes: log.size_bytes,
    }));
  }

  async showEarlier(): Promise<void> {
    const first = this.shown.value.lines[0]?.offset ?? 0;
    if (first === 0) return;
    await this.ask({ offset: first - 1, before: kLinesMore, after: 0 }, (log, shown) => ({
      ...shown,
      lines: [...log.lines.filter(({ offset }) => offset < first), ...shown.lines],
    }));
  }

  async showLater(): Promise<void> {
    const next = this.nextOffset.value;
    await this.ask({ offset: next, before: 0, after: kLinesMore }, (log, shown) => ({
      ...shown,
      sizeBytes: log.size_bytes,
      lines: [...shown.lines, ...log.lines.filter(({ offset }) => offset >= next)],
    }));
  }

  stop(): void {
    this.request.abort();
  }

  private hasRoom(): boolean {
    return this.shown.value.lines.length < kLinesMax;
  }

  private async ask(
    parameters: Record<string, number>,
    take: (log: RunLog, shown: Shown) => Shown,
  ): Promise<void> {
    this.request.abort();
    const request = new AbortController();
    this.request = request;
    this.isLoading.value = true;
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(parameters)) query.set(key, String(value));
    try {
      const log = await fetchRunLog(this.id, query, request.signal);
      if (this.request !== request) return;
      batch(() => {
        const reachedBefore = parameters.after === 0 ? this.nextOffset.value : 0;
        this.shown.value = take(log, this.shown.value);
        this.nextOffset.value = Math.max(reachedBefore, log.next_offset);
        this.problem.value = null;
        this.isLoading.value = false;
      });
    } catch (error) {
      if (isAbort(error)) return;
      batch(() => {
        this.problem.value = asProblem(error);
        this.isLoading.value = false;
      });
    }
  }
}
