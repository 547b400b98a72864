// Which steps' loss is NaN or infinite, or their gradient norm NaN. JSON has neither value, so the
// columns hold null for both, as for a figure that was not printed; the segments say how many of
// their steps have one. Steps are named only where the two agree. Pure.
import type { Segment, Steps } from "../api/types";
import { formatCount, formatPlural } from "../format";

export const kNanMetrics = ["loss", "grad_norm"] as const;
export type NanMetric = (typeof kNanMetrics)[number];
export type NanRows = Record<NanMetric, ReadonlySet<number>>; // of Steps

export function nanRows(steps: Steps, segments: readonly Segment[]): NanRows {
  const found = { loss: new Set<number>(), grad_norm: new Set<number>() };
  for (const { segment, nan_step_count: count } of segments) {
    if (count === 0) continue;
    const rows = [...steps.segment.keys()].filter((row) => steps.segment[row] === segment);
    const isPrinted = (metric: NanMetric) => rows.some((row) => steps[metric]?.[row] != null);
    const printed = kNanMetrics.filter(isPrinted);
    const lacking = (metric: NanMetric) => rows.filter((row) => steps[metric]?.[row] == null);
    const either = new Set(printed.flatMap(lacking));
    const single = printed.filter((metric) => lacking(metric).length === count);
    const sure = either.size === count ? printed : single.length === 1 ? single : [];
    for (const metric of sure) for (const row of lacking(metric)) found[metric].add(row);
  }
  return found;
}

// What such a value may be: an infinite gradient norm is ordinary while a loss scale is sought, and
// is not counted.
export const kNanWords: Record<NanMetric, string> = {
  loss: "NaN or infinite",
  grad_norm: "NaN",
};

// In place of the value; null where it has one, or was not printed.
export function nanWords(nan: NanRows, metric: string, row: number): string | null {
  if (metric !== "loss" && metric !== "grad_norm") return null;
  return nan[metric].has(row) ? kNanWords[metric] : null;
}

const kIterationsNamed = 6;

// "2 steps have a loss that is NaN or infinite, or a gradient norm that is NaN (iterations 5, 6)."
export function nanSentences(
  steps: Steps,
  segments: readonly Segment[],
  nan: NanRows,
): string[] {
  const count = segments.reduce((sum, { nan_step_count }) => sum + nan_step_count, 0);
  if (count === 0) return [];
  const rows = [...new Set([...nan.loss, ...nan.grad_norm])].sort((a, b) => a - b);
  const named = rows.slice(0, kIterationsNamed).map((row) => formatCount(steps.iteration[row]));
  const list = named.join(", ") + (rows.length > named.length ? " …" : "");
  const where = rows.length > 0 ? ` (${rows.length > 1 ? "iterations" : "iteration"} ${list})` : "";
  const has = count === 1 ? "has" : "have";
  return [
    `${formatPlural(count, "step")} ${has} a loss that is ${kNanWords.loss}, ` +
      `or a gradient norm that is ${kNanWords.grad_norm}${where}.`,
  ];
}
