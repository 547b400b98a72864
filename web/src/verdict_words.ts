// A comparison's verdict in words that say which way it goes: "1.5 % slower". Pure.
import type { ComparedMetric, MetricComparison } from "./api/types";
import { formatPercent } from "./format";

const kNoise: Record<MetricComparison["verdict"], string> = {
  faster: "",
  slower: "",
  no_difference_shown: "within run-to-run noise",
  cannot_be_told: "too few runs to tell",
  not_comparable: "not comparable",
};

// Of a step time more is slower; of everything else less is.
function directed(metric: ComparedMetric, relative: number): string {
  const text = formatPercent(Math.abs(relative));
  if (text === formatPercent(0)) return "as fast";
  const isSlower = metric === "step_time_s" ? relative > 0 : relative < 0;
  return `${text} ${isSlower ? "slower" : "faster"}`;
}

export function verdictWords(metric: ComparedMetric, comparison: MetricComparison): string {
  const { verdict, relative_difference: relative } = comparison;
  if (verdict === "not_comparable" || relative === null) {
    return kNoise[verdict] || verdict.replaceAll("_", " ");
  }
  const noise = kNoise[verdict];
  return directed(metric, relative) + (noise && `, ${noise}`);
}

// The smallest difference that would have shown, as a fraction of the baseline's mean: half the
// interval of the difference.
export function visibleDifference(
  { low, high }: MetricComparison,
  baselineMean: number | null | undefined,
): number | null {
  if (low === null || high === null || !baselineMean) return null;
  return (high - low) / 2 / baselineMean;
}
