// A comparison's verdict in words that say which way it goes: "1.5 % slower". Pure.
import type { ComparedMetric, MetricComparison } from "./api/types";
import { formatPercent, formatPlural } from "./format";

// Of a step time more is slower; of everything else less is.
function directed(metric: ComparedMetric, relative: number, decimals = 1): string {
  const text = formatPercent(Math.abs(relative), decimals);
  if (text === formatPercent(0, decimals)) return "as fast";
  const isSlower = metric === "step_time_s" ? relative > 0 : relative < 0;
  return `${text} ${isSlower ? "slower" : "faster"}`;
}

// "2.9 % faster" beside "3.0 % faster" is "2.9 %": which way both go is said once.
function unlessSaid(words: string, others: string): string {
  const way = / (slower|faster)$/;
  return way.exec(words)?.[1] === way.exec(others)?.[1] ? words.replace(way, "") : words;
}

// Said wherever equivalence is: the 95 % interval that stands beside it is wider, and may reach
// beyond the margin.
const kEquivalenceTest = "(two one-sided tests, 90 % interval)";

// What means hold, and medians leave out: how many steps of the group, and of the baseline.
function slowStepWords({ slow_steps: slow, baseline_slow_steps: base }: MetricComparison): string {
  if (!slow || !base || slow.count_min + base.count_min === 0) return "slow steps";
  const share = ({ count_min: least, step_count: all }: typeof slow) =>
    `${least > 0 ? "at least " : ""}${least} of ${all}`;
  return `${share(slow)} steps are slow, against ${share(base)}`;
}

const kUndecidable = ["not_comparable", "cannot_be_told", "means_disagree"];

export function verdictWords(metric: ComparedMetric, comparison: MetricComparison): string {
  const { verdict, relative_difference: relative, equivalence, mean_ratio: means } = comparison;
  if (verdict === "not_comparable") return "not comparable";
  if (verdict === "cannot_be_told" || relative === null) return "a side has no value";
  const byMedians = directed(metric, relative);
  // Tests are made on medians, and what is shown as the result is the mean.
  const byMeans = means === null ? byMedians : directed(metric, means - 1);
  if (comparison.means_differ && means !== null) {
    return `${byMeans} by means, but ${byMedians} by medians: ${slowStepWords(comparison)}`;
  }
  const words =
    byMeans === byMedians
      ? byMedians
      : `${byMedians} by medians (${unlessSaid(byMeans, byMedians)} by means)`;
  if (verdict !== "no_difference_shown") return words;
  return equivalence?.is_equivalent
    ? `${words}, equivalent within ${formatPercent(equivalence.margin, 0)} ${kEquivalenceTest}`
    : `${words}, ${sideMoves(comparison) ? "while a side drifts" : "within run-to-run noise"}`;
}

// "1.24 % to 2.81 % slower", the interval of the difference at 95 %; empty where nothing was tested.
export function intervalRange(
  metric: ComparedMetric,
  { ratio_low: low, ratio_high: high }: MetricComparison,
): string {
  if (low === null || high === null) return "";
  const ends = [low - 1, high - 1].sort((a, b) => Math.abs(a) - Math.abs(b));
  const [near = 0, far = 0] = ends;
  const from = near * far > 0 ? formatPercent(Math.abs(near), 2) : directed(metric, near, 2);
  return `${from} to ${directed(metric, far, 2)}`;
}

// The same as a sentence of its own.
export function intervalWords(metric: ComparedMetric, comparison: MetricComparison): string {
  const range = intervalRange(metric, comparison);
  return range && `95 % interval: ${range}.`;
}

// How many more runs of each group would decide; null where it is decided, cannot be tested, or
// would take more than anybody launches.
export function runsToDecide({
  verdict,
  equivalence,
  more_runs_to_decide: more,
}: MetricComparison): number | null {
  const isOpen = verdict === "no_difference_shown" && !equivalence?.is_equivalent;
  return isOpen && more !== null && more > 0 ? more : null;
}

// The same as a cell of a table.
export function moreRunsWords(comparison: MetricComparison): string {
  const { verdict, equivalence, more_runs_to_decide: more } = comparison;
  if (kUndecidable.includes(verdict)) return "";
  const wouldBeDecided = verdict === "no_difference_shown" && more === 0;
  if (wouldBeDecided && sideMoves(comparison)) return "a side drifts";
  if (verdict !== "no_difference_shown" || equivalence?.is_equivalent || more === 0)
    return "decided";
  return more === null ? "over 50" : String(more);
}

// What such runs can show, and how many more would decide; empty where it is decided or not tested.
export function decisionWords(comparison: MetricComparison): string {
  const { verdict, equivalence, smallest_visible_difference: visible } = comparison;
  const { more_runs_to_decide: more } = comparison;
  if (verdict !== "no_difference_shown" || equivalence?.is_equivalent || more === 0) return "";
  const runs =
    more === null
      ? "More than 50 more runs on each side would be needed to decide."
      : `${formatPlural(more, "more run")} on each side would decide, if the means stay as they ` +
        "are.";
  if (visible === null) return runs;
  const share = formatPercent(visible, 2);
  return `Differences of ${share} or more would show, four times in five. ${runs}`;
}

const kSignificant = 0.05; // of p-values, as of the verdicts
const kSideSignificant = kSignificant / 2; // there are two sides

type Drift = NonNullable<MetricComparison["side_drifts"]>["other"];

const isShown = (drift: Drift | undefined): drift is NonNullable<Drift> =>
  !!drift && drift.p_value !== null && drift.p_value < kSideSignificant && drift.change !== null;

// A side that moves by more than the margin is none that anything is equivalent to.
function sideMoves({ side_drifts: sides, equivalence }: MetricComparison): boolean {
  const margin = equivalence?.margin ?? 0;
  const moves = (drift: Drift | undefined) =>
    isShown(drift) && Math.abs(Math.log1p(drift.change ?? 0)) > Math.log1p(margin);
  return moves(sides?.baseline) || moves(sides?.other);
}

// Each side that became slower or faster from its first start to its last.
function sideDriftWords(
  metric: ComparedMetric,
  { side_drifts: sides, start_drift: drift }: MetricComparison,
): string {
  const told = [
    ["What it is compared with", sides?.baseline] as const,
    ["This side itself", sides?.other] as const,
  ].flatMap(([side, own]) =>
    isShown(own)
      ? [`${side} became ${directed(metric, own.change ?? 0, 2)} from its first start to its last.`]
      : [],
  );
  if (told.length > 0 && drift?.sides_are_separate) {
    told.push("One side was started after the other: the difference may be the drift's.");
  }
  return told.join(" ");
}

// That the runs drift in the order of their starts, which a verdict on them must not hide; empty
// where they do not.
export function startDriftWords(metric: ComparedMetric, comparison: MetricComparison): string {
  const ofSides = sideDriftWords(metric, comparison);
  if (ofSides) return ofSides;
  const { start_drift: drift } = comparison;
  if (!drift || drift.change_per_run === null || drift.p_value === null) return "";
  if (drift.p_value >= kSignificant) return "";
  const each = `From one start to the next the runs are ${directed(metric, drift.change_per_run, 2)}`;
  return drift.sides_are_separate
    ? `${each}, and one side was started after the other: the difference may be the drift's.`
    : `${each}.`;
}

// A, B, C: group 0 is what the others are measured against.
export function groupName(group: number): string {
  return String.fromCharCode(65 + group);
}
