// One run with its steps and the figures that follow from them over the choice (the window, and the
// steps of it that are left out), followed while it grows.
import { batch, signal } from "@preact/signals";
import {
  asProblem,
  fetchCheckpoints,
  fetchInsight,
  fetchMetrics,
  fetchRun,
  fetchStatistics,
  fetchSteps,
  isAbort,
  Problem,
} from "../api/client";
import type { LiveListener } from "../api/live";
import type {
  RunChange,
  RunCheckpoints,
  RunDetails,
  RunInsight,
  RunMetrics,
  RunStatistics,
  Steps,
} from "../api/types";
import { Coalescer } from "./coalesce";
import { Turns } from "./turns";

const kRefreshEveryMs = 700;

export class RunPageStore implements LiveListener {
  readonly run = signal<RunDetails | null>(null);
  readonly steps = signal<Steps | null>(null);
  readonly insight = signal<RunInsight | null>(null);
  readonly checkpoints = signal<RunCheckpoints | null>(null);
  readonly statistics = signal<RunStatistics | null>(null);
  readonly metrics = signal<RunMetrics | null>(null);
  readonly problem = signal<Problem | null>(null);
  // The choice was refused or could not be asked for; the rest of the page stands.
  readonly figuresProblem = signal<Problem | null>(null);
  readonly areFiguresOld = signal(false); // those shown are of the choice before

  private over = ""; // the choice: the window and the steps that are left out, as a query
  private shownOver = ""; // that the figures are of
  private requests = new AbortController();
  private readonly turns = new Turns();
  private readonly figuresTurns = new Turns();
  private readonly refreshes = new Coalescer(kRefreshEveryMs, () => this.refresh());

  constructor(readonly id: number) {}

  async load(over: string): Promise<void> {
    this.over = over;
    await this.refresh();
  }

  async measureOver(over: string): Promise<void> {
    if (over === this.over) return;
    this.over = over;
    batch(() => {
      this.figuresProblem.value = null; // it is of the choice before
      this.areFiguresOld.value = this.statistics.value !== null && over !== this.shownOver;
    });
    await this.loadFigures();
  }

  async refresh(): Promise<void> {
    const { signal: abort } = this.requests;
    const turn = this.turns.begin();
    try {
      const run = await fetchRun(this.id, abort); // where there is none, there is nothing of it
      const [steps, insight, checkpoints] = await Promise.all([
        fetchSteps(this.id, abort),
        run.step_count > 0 ? fetchInsight(this.id, abort) : null,
        run.checkpoint_count > 0 ? fetchCheckpoints(this.id, abort) : null,
        this.loadFigures(),
      ]);
      if (!this.turns.settle(turn)) return;
      batch(() => {
        this.run.value = run;
        this.steps.value = steps;
        this.insight.value = insight;
        this.checkpoints.value = checkpoints;
        this.problem.value = null;
      });
    } catch (error) {
      if (!isAbort(error) && this.turns.settle(turn)) this.problem.value = asProblem(error);
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

  private async loadFigures(): Promise<void> {
    const { over } = this;
    const { signal: abort } = this.requests;
    const turn = this.figuresTurns.begin();
    // Unless another choice was made meanwhile.
    const settle = () => over === this.over && this.figuresTurns.settle(turn);
    try {
      const [statistics, metrics] = await Promise.all([
        fetchStatistics(this.id, over, abort),
        fetchMetrics(this.id, over, abort),
      ]);
      if (!settle()) return;
      this.shownOver = over;
      batch(() => {
        this.areFiguresOld.value = false;
        this.statistics.value = statistics;
        this.metrics.value = metrics;
        this.figuresProblem.value = null;
      });
    } catch (error) {
      if (isAbort(error) || !settle()) return;
      batch(() => {
        if (this.areFiguresOld.value) {
          this.statistics.value = null;
          this.metrics.value = null;
        }
        this.areFiguresOld.value = false;
        this.figuresProblem.value = asProblem(error);
      });
    }
  }
}
