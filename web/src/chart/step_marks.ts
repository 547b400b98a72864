// What the steps of a run are marked with in its charts, each in words, too. Pure.
import type { RunCheckpoints, RunInsight, Steps } from "../api/types";
import { formatCount, formatNumber, formatPlural } from "../format";
import type { ChartSeries } from "./series";
import type { ChartMark } from "./step_plot";

// Of the segment that counts.
export function marksOf(
  insight: RunInsight | null,
  checkpoints: RunCheckpoints | null,
  steps: Steps,
  series: ChartSeries,
): ChartMark[] {
  const counting = series.segments.find(({ counts }) => counts);
  const iterations = series.iterations.filter((_, at) => (counting?.values[at] ?? null) !== null);
  return [
    ...warmUp(insight, iterations),
    ...evaluations(steps, counting?.segment ?? null),
    ...(insight?.outliers ?? []).map(({ iteration, ratio }): ChartMark => {
      return { iteration, kind: "outlier", words: `outlier, ${formatNumber(ratio)} × the steady time` };
    }),
    ...periodic(insight, iterations),
    ...saves(checkpoints),
  ];
}

function warmUp(insight: RunInsight | null, iterations: number[]): ChartMark[] {
  const last = insight?.warm_up_last_iteration ?? null;
  if (last === null) return [];
  return iterations
    .filter((iteration) => iteration <= last)
    .map((iteration) => ({ iteration, kind: "warm_up", words: "warm-up" }));
}

function periodic(insight: RunInsight | null, iterations: number[]): ChartMark[] {
  const found = insight?.periodic;
  if (!found) return [];
  const { first_iteration: from, period } = found;
  return iterations
    .filter((iteration) => iteration >= from && (iteration - from) % period === 0)
    .map((iteration) => ({ iteration, kind: "periodic", words: "periodically slow" }));
}

function saves(checkpoints: RunCheckpoints | null): ChartMark[] {
  return (checkpoints?.checkpoints ?? []).flatMap(({ kind, iteration }): ChartMark[] => {
    if (iteration === null || kind === "save_finished" || kind === "save_begun") return [];
    const words = kind === "load" ? "checkpoint loaded" : "checkpoint saved";
    return [{ iteration, kind: "checkpoint", words }];
  });
}

const heldBy = (steps: Steps, row: number) => steps.interruptions?.[row]?.split(",") ?? [];

function evaluations(steps: Steps, segment: number | null): ChartMark[] {
  return steps.iteration.flatMap((iteration, row): ChartMark[] =>
    steps.segment[row] === segment && heldBy(steps, row).includes("evaluation")
      ? [{ iteration, kind: "evaluation", words: "holds an evaluation" }]
      : [],
  );
}

const kHeld = {
  checkpoint: "a checkpoint",
  evaluation: "an evaluation",
  profile: "what a profiler does",
} as const;
const kIterationsNamed = 6;

// "3 steps hold an evaluation (iterations 10, 20, 30): in the mean 1.62 × the steady time."
export function interruptionSentences(
  steps: Steps,
  segment: number,
  steadyStepTimeS: number | null,
): string[] {
  return Object.entries(kHeld).flatMap(([name, words]) => {
    const rows = steps.iteration
      .map((_, row) => row)
      .filter((row) => steps.segment[row] === segment && heldBy(steps, row).includes(name));
    if (rows.length === 0) return [];
    const named = rows.slice(0, kIterationsNamed).map((row) => formatCount(steps.iteration[row]));
    const list = named.join(", ") + (rows.length > named.length ? " …" : "");
    const times = rows.flatMap((row) => steps.step_time_s[row] ?? []);
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    const slower =
      steadyStepTimeS === null || times.length === 0
        ? ""
        : `: in the mean ${formatNumber(mean / steadyStepTimeS)} × the steady time`;
    const holds = rows.length === 1 ? "holds" : "hold";
    const where = rows.length === 1 ? "iteration" : "iterations";
    return [`${formatPlural(rows.length, "step")} ${holds} ${words} (${where} ${list})${slower}.`];
  });
}
