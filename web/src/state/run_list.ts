// The list of runs as loaded so far, kept up to date by events: a run that changed is asked for
// again and patched in place, so that rows do not jump; many changes at once reload the list.
import { batch, signal } from "@preact/signals";
import { asProblem, fetchRun, fetchRuns, isAbort, Problem } from "../api/client";
import type { LiveListener } from "../api/live";
import type { Run, RunChange } from "../api/types";
import { Coalescer } from "./coalesce";
import {
  apiQuery,
  kChoiceKeys,
  kPageRows,
  matchesFilters,
  type ChoiceKey,
  type ListState,
} from "./list_state";

const kLimitMax = 500; // the server's own
const kPatchMax = 20; // more changed runs than this are cheaper to reload at once
const kPatchEveryMs = 400;
const kReloadEveryMs = 1_500;

export type Phase = "loading" | "ready" | "error";
export type Choices = Record<ChoiceKey, string[]>;

export class RunListStore implements LiveListener {
  readonly runs = signal<Run[]>([]);
  readonly total = signal(0);
  readonly nextCursor = signal<string | null>(null);
  readonly phase = signal<Phase>("loading");
  readonly problem = signal<Problem | null>(null);
  readonly isBusy = signal(false);
  readonly choices = signal<Choices>({ workload: [], dtype: [], gpu_type: [] });

  private state: ListState | null = null;
  private request: AbortController | null = null;
  private hasAllChoices = false;
  private readonly patches = new Coalescer(kPatchEveryMs, (ids) => this.patch(ids));
  private readonly reloads = new Coalescer(kReloadEveryMs, () => this.reload());

  async load(state: ListState): Promise<void> {
    this.state = state;
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.isBusy.value = true;
    try {
      let runs: Run[] = [];
      let cursor: string | null = null;
      let total = 0;
      do {
        const limit = Math.min(state.rows - runs.length, kLimitMax);
        const page = await fetchRuns(apiQuery(state, limit, cursor), request.signal);
        runs = runs.concat(page.runs);
        total = page.total;
        cursor = page.next_cursor;
      } while (cursor && runs.length < state.rows);
      batch(() => {
        this.runs.value = this.newest(runs);
        this.total.value = total;
        this.nextCursor.value = cursor;
        this.problem.value = null;
        this.phase.value = "ready";
      });
      this.learnChoices(runs);
      if (!this.hasAllChoices) void this.loadChoices();
    } catch (error) {
      if (isAbort(error)) return;
      batch(() => {
        this.problem.value = asProblem(error);
        this.phase.value = "error";
      });
    } finally {
      if (this.request === request) this.isBusy.value = false;
    }
  }

  // Appends a page; gives the number of rows shown after it.
  async loadMore(): Promise<number> {
    const { state, request } = this;
    const cursor = this.nextCursor.value;
    if (!state || !cursor || this.isBusy.value) return this.runs.value.length;
    this.isBusy.value = true;
    try {
      const page = await fetchRuns(apiQuery(state, kPageRows, cursor), request?.signal);
      batch(() => {
        this.runs.value = this.newest(this.runs.value.concat(page.runs));
        this.nextCursor.value = page.next_cursor;
        this.total.value = page.total;
      });
      this.learnChoices(page.runs);
      state.rows = Math.max(state.rows, this.runs.value.length);
    } catch (error) {
      if (!isAbort(error)) this.problem.value = asProblem(error);
    } finally {
      if (this.request === request) this.isBusy.value = false;
    }
    return this.runs.value.length;
  }

  onRun(change: RunChange): void {
    const isShown = this.runs.value.some((run) => run.id === change.run_id);
    if (isShown && change.kind !== "superseded") this.patches.add(change.run_id);
    else this.reloads.add(0);
  }

  onReset(): void {
    this.reloads.add(0);
  }

  stop(): void {
    this.patches.stop();
    this.reloads.stop();
    this.request?.abort();
  }

  // Each run once (one that moved between two pages comes twice), and never older than it is
  // shown: an answer may have been on its way while a patch came in.
  private newest(runs: Run[]): Run[] {
    const shown = new Map(this.runs.value.map((run) => [run.id, run]));
    const once = new Map(runs.map((run) => [run.id, run]));
    return [...once.values()].map((run) => {
      const known = shown.get(run.id);
      return known && known.revision > run.revision ? known : run;
    });
  }

  private async reload(): Promise<void> {
    if (this.state) await this.load(this.state);
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
    }
    const { state } = this;
    if (!state || fresh.size === 0) return;
    const before = this.runs.value;
    const after = before
      .map((run) => {
        const now = fresh.get(run.id);
        return now && now.revision >= run.revision ? now : run;
      })
      .filter((run) => !fresh.has(run.id) || matchesFilters(run, state));
    batch(() => {
      this.total.value -= before.length - after.length;
      this.runs.value = after;
    });
  }

  // What the filters can be set to: the values of the newest runs, and of all seen since.
  private async loadChoices(): Promise<void> {
    this.hasAllChoices = true;
    try {
      const page = await fetchRuns(new URLSearchParams({ limit: String(kLimitMax) }));
      this.learnChoices(page.runs);
    } catch {
      this.hasAllChoices = false; // the next load tries again
    }
  }

  private learnChoices(runs: Run[]): void {
    const before = this.choices.peek();
    const after = { ...before };
    let isNew = false;
    for (const key of kChoiceKeys) {
      const values = new Set(before[key]);
      for (const run of runs) if (run[key]) values.add(run[key]);
      if (values.size === before[key].length) continue;
      after[key] = [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      isNew = true;
    }
    if (isNew) this.choices.value = after;
  }
}
