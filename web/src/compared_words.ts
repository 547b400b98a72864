// What a comparison says where there is nothing, or not all, to compare. Pure.
import type { ComparedMetric as Metric, ComparedRun, Comparison, RunGroup } from "./api/types";
import { formatPlural } from "./format";
import { markWord } from "./mark_words";
import { standingWords } from "./state/standing";

// Why there are no two runs, or not all named sides, to compare: a sentence for each run that is
// left out. Empty where there are, and where one run alone was asked for.
export function loneWords({ runs, groups, missing_sides: missing }: Comparison): string[] {
  const leftOut = runs.filter(({ exclusion }) => exclusion !== null);
  const wordsOf = (some: readonly ComparedRun[]) =>
    some.map(({ id, exclusion }) => `Run ${id} is left out. ${exclusion}`);
  if (groups.length > 1) {
    const ids = missing.flatMap(({ run_ids }) => run_ids);
    return wordsOf(leftOut.filter(({ id }) => ids.includes(id)));
  }
  const hasSides = groups.some(({ name }) => name !== null);
  const isLone = hasSides || runs.length - leftOut.length < 2;
  return isLone && runs.length > 1 ? wordsOf(leftOut) : [];
}

const kMetrics: Record<Metric, string> = {
  step_time_s: "step time",
  tokens_per_s_per_gpu: "tokens/s/GPU",
  tflops_per_gpu: "TFLOPS per GPU",
};

const metricNames = (metrics: readonly string[]) =>
  metrics.map((metric) => kMetrics[metric as Metric] ?? metric).join(" and ");

const isEveryMetric = (metrics: readonly string[]) =>
  metrics.length === Object.keys(kMetrics).length;

// Most obstacles bar every metric; then that goes without saying.
export function barredText(metrics: readonly string[]): string {
  return isEveryMetric(metrics) ? "" : `(This bars ${metricNames(metrics)} only.)`;
}

// Above what keeps groups from being compared: what of them that is.
export function obstaclesTitle(comparison: Comparison): string {
  const barred = comparison.comparisons.map(({ obstacles }) => [
    ...new Set(obstacles.flatMap(({ metrics }) => metrics)),
  ]);
  if (barred.every(isEveryMetric)) return "Not comparable";
  const isMissing = loneWords(comparison).length > 0;
  if (isMissing || barred.some(isEveryMetric)) return "Not everything is comparable";
  const names = metricNames([...new Set(barred.flat())]);
  return `${names.charAt(0).toUpperCase()}${names.slice(1)} not comparable`;
}

// What of the run's window is more than training, and how much of it does not count:
// ["in it checkpoint: 20", "without 1 step"].
export function windowTouches({ window_interruptions: held, steps_left_out: out }: ComparedRun) {
  const parts = [held && `in it ${held}`, out > 0 && `without ${formatPlural(out, "step")}`];
  return parts.filter(Boolean);
}

// A run with steps of its own has data, though none of them is in the window.
export function markWordsOf({ marks, status, window }: ComparedRun): string[] {
  return marks.map(({ mark }) =>
    mark === "no_data" && status !== "no_data" ? `no step in ${window}` : markWord(mark),
  );
}

// Over what a run stands against its published result, where that is not what its row measures.
export function publishedOver({ published, window, steps_left_out: out }: ComparedRun): string {
  if (published.speed_against_reference === null) return "";
  return published.window === window && out === 0 ? "" : `over ${published.window}, every step`;
}

const kNoneKnown = "No published result is that of its configuration.";

// How a run alone stands against its published result, or why there is none to say.
export function publishedWords(run: ComparedRun, group: RunGroup | undefined): string {
  if (run.exclusion !== null) return `The run does not count. ${run.exclusion}`;
  const standing = group?.published_standing ?? null;
  if (standing) return `Published speed: ${standingWords(standing)}.`;
  return run.published.reason ?? kNoneKnown;
}

// The same of a group beside others: a cell of a table.
export function groupStandingWords(group: RunGroup): string {
  if (group.published_standing) return standingWords(group.published_standing);
  return group.published_reason ?? kNoneKnown;
}
