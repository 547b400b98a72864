// The step times of several runs over their windows, as distributions on one axis. Pure.
import type { Steps } from "../api/types";
import { isLeftOut } from "../state/interruptions";
import { windowHolds, type IterationWindow } from "../state/window";
import { isOffScale, quantile, steadyRange, type Range } from "./scale";

export interface Distribution {
  id: number;
  name: string;
  values: number[]; // in the order of the iterations
  quantile: (share: number) => number; // of those; NaN where there are none
}

// A restarted iteration counts in its last pass. `without`: as the API takes it.
export function distributionOf(
  run: { id: number; name: string; steps: Steps },
  window: IterationWindow | null,
  without: string,
): Distribution {
  const byIteration = new Map<number, number>();
  run.steps.iteration.forEach((iteration, row) => {
    const value = run.steps.step_time_s[row];
    if (!windowHolds(window, iteration) || typeof value !== "number") return;
    if (isLeftOut(run.steps.interruptions?.[row], without)) byIteration.delete(iteration);
    else byIteration.set(iteration, value);
  });
  const values = [...byIteration].sort(([a], [b]) => a - b).map(([, value]) => value);
  const sorted = [...values].sort((a, b) => a - b);
  return {
    id: run.id,
    name: run.name,
    values,
    quantile: (share) => (sorted.length > 0 ? quantile(sorted, share) : NaN),
  };
}

// What holds the steady steps of each: one slow step does not squeeze the others together.
export function distributionRange(all: readonly Distribution[]): Range {
  const ranges = all.flatMap(({ values }) => steadyRange(values, values) ?? []);
  return {
    min: Math.min(...ranges.map(({ min }) => min)),
    max: Math.max(...ranges.map(({ max }) => max)),
  };
}

export function offScaleCount({ values }: Distribution, range: Range): number {
  return values.filter((value) => isOffScale(value, range)).length;
}

// The share of the steps that take no longer than that.
export function shareWithin({ values }: Distribution, seconds: number): number {
  return values.filter((value) => value <= seconds).length / Math.max(1, values.length);
}

const kGolden = 0.6180339887;

// -0.5 to 0.5, spread evenly over neighbours: equal times do not hide each other.
export function spreadOf(at: number): number {
  return ((at + 1) * kGolden) % 1 - 0.5;
}
