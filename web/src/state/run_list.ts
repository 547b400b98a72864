// The list of runs as far as it was looked at, kept up to date by events: a run that changed is
// asked for again and patched in place, so that rows do not jump; many changes at once reload it.
// Where a patch leaves a row out of the order that was asked for, the list says so.
// One store lives as long as the page, so that who comes back finds the rows where they were.
import { batch, computed, signal } from "@preact/signals";
import { asProblem, fetchRun, fetchRuns, isAbort, Problem } from "../api/client";
import type { LiveListener } from "../api/live";
import type { Run, RunChange, RunPage } from "../api/types";
import { Coalescer } from "./coalesce";
import { apiQuery, kDefaultSort, listKey, type ListState } from "./list_state";
import { matchesFilters } from "./matches_filters";
import { askRunChoicesOnce, doubtRunChoices, learnRunChoices } from "./run_choices";
import { isStillSorted } from "./run_order";

const kFirstRuns = 100; // what is shown at once
const kPageRuns = 500; // the server's own limit
const kReloadRowsMax = 1_000;
const kPatchMax = 20; // more changed runs than this are cheaper to reload at once
const kPatchEveryMs = 400;
const kReloadEveryMs = 1_500;

export type Phase = "loading" | "ready" | "error";

export class RunListStore implements LiveListener {
  readonly runs = signal<Run[]>([]);
  readonly total = signal(0);
  readonly isTotalExact = signal(true); // false: there are more
  // To scroll to: of those that nobody counted, a page more.
  readonly rowCount = computed(() => this.total.value + (this.isTotalExact.value ? 0 : kPageRuns));
  readonly hasNews = signal(false); // the rows shown are no longer all that there is
  readonly isOrderOld = signal(false); // rows shown have changed, and stand where they stood
  readonly answeredAt = signal(0); // ms since the epoch
  readonly phase = signal<Phase>("loading");
  readonly problem = signal<Problem | null>(null);
  readonly isBusy = signal(false);
  readonly isOld = signal(false); // the rows shown are of another filter or order

  private state: ListState | null = null;
  private request: AbortController | null = null;
  private nextCursor: string | null = null;
  private wanted = 0; // rows, from the first one
  private shownKey = ""; // of the list that the rows are of; empty: none was answered
  private shownCursor: string | null = null; // to what follows the rows shown
  private isExtending = false;
  // Shown when events were lost: their revisions may be those of another database.
  private outdated: ReadonlySet<Run> = new Set();
  private readonly patches = new Coalescer(kPatchEveryMs, (ids) => this.patch(ids));
  private readonly reloads = new Coalescer(kReloadEveryMs, () => this.reload());

  // The list of a state, from its first page on; what is shown stays until that has come.
  async load(state: ListState): Promise<void> {
    this.state = state;
    this.wanted = 0;
    const isOther = listKey(state) !== this.shownKey;
    const hasRows = this.runs.value.length > 0;
    batch(() => {
      this.isOld.value = isOther && hasRows;
      if (!isOther) return;
      this.problem.value = null;
      this.phase.value = hasRows ? "ready" : "loading"; // no rows would pass for this one's answer
    });
    await this.loadFirst(kFirstRuns);
  }

  // Says which rows are looked at: pages are loaded up to the last of them, one after the other.
  async ensure(end: number): Promise<void> {
    this.wanted = Math.max(0, end);
    if (this.isExtending) return;
    this.isExtending = true;
    try {
      while (this.nextCursor !== null && this.runs.value.length < this.wanted) {
        if (!(await this.loadNext())) break;
      }
    } finally {
      this.isExtending = false;
    }
  }

  onRun(change: RunChange): void {
    const isShown = this.runs.value.some((run) => run.id === change.run_id);
    const isGone = change.kind === "superseded" || change.kind === "removed";
    if (isShown && !isGone) this.patches.add(change.run_id);
    else this.reloads.add(0);
  }

  onReset(): void {
    doubtRunChoices();
    this.outdated = new Set(this.runs.value);
    this.reloads.add(0);
  }

  // Each run once (one that moved between two pages comes twice), and never older than it is
  // shown: an answer may have been on its way while a patch came in.
  private newest(once: ReadonlyMap<number, Run>): Run[] {
    const shown = new Map(this.runs.value.map((run) => [run.id, run]));
    return [...once.values()].map((run) => {
      const known = shown.get(run.id);
      return known && this.isNewer(known, run) ? known : run;
    });
  }

  private isNewer(known: Run, run: Run): boolean {
    return known.revision > run.revision && !this.outdated.has(known);
  }

  // As far as it is looked at; what lies beyond comes again when it is scrolled to. Who looks at a
  // row far down is told of the change instead, and keeps what is read.
  private async reload(): Promise<void> {
    if (this.wanted > kReloadRowsMax) this.hasNews.value = true;
    else await this.loadFirst(Math.max(kFirstRuns, this.wanted));
  }

  private async loadFirst(count: number): Promise<void> {
    const { state } = this;
    if (!state) return;
    this.hasNews.value = false;
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.nextCursor = null; // it is of the list before, and another order or filter refuses it
    this.isBusy.value = true;
    try {
      let runs: Run[] = [];
      let page: RunPage | null = null;
      do {
        const limit = page ? kPageRuns : kFirstRuns;
        const cursor: string | null = page?.next_cursor ?? null;
        page = await fetchRuns(apiQuery(state, limit, cursor), request.signal);
        runs = runs.concat(page.runs);
      } while (page.next_cursor && runs.length < count);
      if (this.request !== request) return;
      this.isOrderOld.value = false;
      this.isOld.value = false;
      this.shownKey = listKey(state);
      this.show(runs, page);
      learnRunChoices(runs);
      askRunChoicesOnce();
      void this.ensure(this.wanted); // rows may have been looked at meanwhile
    } catch (error) {
      if (this.request === request) this.tell(error);
    } finally {
      if (this.request === request) this.isBusy.value = false;
    }
  }

  private async loadNext(): Promise<boolean> {
    const { state, request, nextCursor } = this;
    if (!state || !request || nextCursor === null) return false;
    try {
      const page = await fetchRuns(apiQuery(state, kPageRuns, nextCursor), request.signal);
      if (this.request !== request || this.nextCursor !== nextCursor) return true;
      this.show(this.runs.value.concat(page.runs), page);
      learnRunChoices(page.runs);
      return true;
    } catch (error) {
      if (this.request !== request || this.nextCursor !== nextCursor) return true;
      this.tell(error);
      return false;
    }
  }

  // `last`: the page with the last of them.
  private show(runs: Run[], last: RunPage): void {
    const once = new Map(runs.map((run) => [run.id, run]));
    const shown = this.newest(once);
    this.nextCursor = last.next_cursor;
    this.shownCursor = last.next_cursor;
    const isEnd = last.next_cursor === null;
    this.checkOrder(once, shown);
    batch(() => {
      this.runs.value = shown;
      // A run that moved between two pages may be counted, and yet be on neither.
      this.total.value = isEnd ? shown.length : Math.max(last.total, shown.length);
      this.isTotalExact.value = isEnd || last.is_total_exact;
      this.problem.value = null;
      this.phase.value = "ready";
      this.answeredAt.value = Date.now();
    });
  }

  // The newest first is what is watched as it grows, and is put right at once; under another order
  // rows keep their places until who reads them asks.
  private checkOrder(before: ReadonlyMap<number, Run>, after: readonly Run[]): void {
    const { state } = this;
    if (!state || isStillSorted(before, after, state.sort, this.nextCursor === null)) return;
    if (state.sort === kDefaultSort) this.reloads.add(0);
    else this.isOrderOld.value = true;
  }

  // Rows of another filter or order do not stay below the problem: they would pass for this one's.
  // Those that stay can be scrolled in as before.
  private tell(error: unknown): void {
    if (isAbort(error)) return;
    if (this.state && listKey(this.state) !== this.shownKey) {
      this.shownKey = "";
      this.shownCursor = null;
    }
    this.nextCursor = this.shownCursor;
    batch(() => {
      if (this.isOld.value) this.runs.value = [];
      this.isOld.value = false;
      this.problem.value = asProblem(error);
      this.phase.value = "error";
    });
  }

  private async patch(ids: number[]): Promise<void> {
    if (ids.length > kPatchMax) {
      this.reloads.add(0);
      return;
    }
    const answers = await Promise.allSettled(ids.map((id) => fetchRun(id)));
    const fresh = new Map<number, Run>();
    for (const answer of answers) {
      if (answer.status === "fulfilled") fresh.set(answer.value.id, answer.value);
      else if (asProblem(answer.reason).status !== 404) this.reloads.add(0); // or its row stays old
    }
    const { state } = this;
    if (!state || fresh.size === 0) return;
    const before = this.runs.value;
    const after = before
      .map((run) => {
        const now = fresh.get(run.id);
        return now && !this.isNewer(run, now) ? now : run;
      })
      .filter((run) => !fresh.has(run.id) || matchesFilters(run, state));
    batch(() => {
      this.total.value -= before.length - after.length;
      this.runs.value = after;
      this.checkOrder(new Map(before.map((run) => [run.id, run])), after);
    });
  }
}
