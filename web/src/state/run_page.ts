// One run with its steps and its statistics over the chosen window, followed while it grows.
import { batch, signal } from "@preact/signals";
import { asProblem, fetchRun, fetchStatistics, fetchSteps, isAbort, Problem } from "../api/client";
import type { LiveListener } from "../api/live";
import type { RunChange, RunDetails, RunStatistics, Steps } from "../api/types";
import { Coalescer } from "./coalesce";

const kRefreshEveryMs = 700;

export class RunPageStore implements LiveListener {
  readonly run = signal<RunDetails | null>(null);
  readonly steps = signal<Steps | null>(null);
  readonly statistics = signal<RunStatistics | null>(null);
  readonly problem = signal<Problem | null>(null);
  // The window was refused or could not be asked for; the rest of the page stands.
  readonly windowProblem = signal<Problem | null>(null);

  private window = "";
  private requests = new AbortController();
  private readonly refreshes = new Coalescer(kRefreshEveryMs, () => this.refresh());

  constructor(readonly id: number) {}

  async load(window: string): Promise<void> {
    this.window = window;
    await this.refresh();
  }

  async setWindow(window: string): Promise<void> {
    if (window === this.window) return;
    this.window = window;
    await this.loadStatistics();
  }

  async refresh(): Promise<void> {
    const { signal: abort } = this.requests;
    try {
      const [run, steps] = await Promise.all([
        fetchRun(this.id, abort),
        fetchSteps(this.id, abort),
        this.loadStatistics(),
      ]);
      batch(() => {
        this.run.value = run;
        this.steps.value = steps;
        this.problem.value = null;
      });
    } catch (error) {
      if (!isAbort(error)) this.problem.value = asProblem(error);
    }
  }

  onRun(change: RunChange): void {
    if (change.run_id === this.id) this.refreshes.add(this.id);
  }

  onReset(): void {
    this.refreshes.add(this.id);
  }

  stop(): void {
    this.refreshes.stop();
    this.requests.abort();
  }

  private async loadStatistics(): Promise<void> {
    const { window } = this;
    try {
      const statistics = await fetchStatistics(this.id, window, this.requests.signal);
      if (window !== this.window) return; // another one was chosen meanwhile
      batch(() => {
        this.statistics.value = statistics;
        this.windowProblem.value = null;
      });
    } catch (error) {
      if (!isAbort(error) && window === this.window) this.windowProblem.value = asProblem(error);
    }
  }
}
