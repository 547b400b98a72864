// What the step times show, in sentences. Pure.
import type { RunInsight } from "./api/types";
import {
  formatBytes,
  formatCount,
  formatNumber,
  formatPercent,
  formatPlural,
  formatSeconds,
} from "./format";

const kOutliersNamed = 4;

function warmUp(insight: RunInsight): string {
  const { warm_up_step_count: count, warm_up_last_iteration: last } = insight;
  if (count === null) return "";
  if (count === 0 || last === null) return "The step time is steady from the first step on.";
  if (count === 1) return `Warm-up: the first step, iteration ${formatCount(last)}, is slower.`;
  const steps = formatPlural(count, "step");
  return `Warm-up: the first ${steps}, up to iteration ${formatCount(last)}, are slower.`;
}

function steady(insight: RunInsight): string {
  const { steady_step_time_s: time, steady_step_time_s_deviation: deviation } = insight;
  if (time === null) return "";
  const share = deviation === null ? "" : ` (deviation ${formatPercent(deviation / time, 2)})`;
  return `A steady step takes ${formatSeconds(time)}${share}.`;
}

function outliers(insight: RunInsight): string {
  const count = insight.outlier_count;
  if (count === null) return "";
  if (count === 0) return "No step after warm-up stands out.";
  const named = insight.outliers
    .slice(0, kOutliersNamed)
    .map(
      ({ iteration, ratio }) => `iteration ${formatCount(iteration)} (${formatNumber(ratio)} ×)`,
    );
  const others = count - named.length;
  const list = named.join(", ") + (others > 0 ? ` and ${formatCount(others)} more` : "");
  return count === 1
    ? `One outlier: ${list} the steady time.`
    : `${formatCount(count)} outliers, as multiples of the steady time: ${list}.`;
}

function periodic({ periodic: found }: RunInsight): string {
  if (!found) return "";
  return (
    `Every ${ordinal(found.period)} step is slow: ${formatPlural(found.step_count, "step")} of ` +
    `${formatNumber(found.ratio)} × the steady time, from iteration ` +
    `${formatCount(found.first_iteration)} on. They cost ` +
    `${formatPercent(found.time_share_lost)} of the time.`
  );
}

function drift({ drift: found }: RunInsight): string {
  if (!found) return "";
  const words = found.relative_change > 0 ? "slower" : "faster";
  return (
    `The steps become slowly ${words}: by ${formatPercent(Math.abs(found.relative_change))} from ` +
    `iteration ${formatCount(found.first_iteration)} to ${formatCount(found.last_iteration)}.`
  );
}

function memory(insight: RunInsight): string {
  const { memory_bytes_max: bytes, memory_bytes_max_iteration: iteration } = insight;
  if (bytes === null) return "";
  const at = iteration === null ? "" : `, first at iteration ${formatCount(iteration)}`;
  return `Memory peaks at ${formatBytes(bytes)}${at}.`;
}

export function ordinal(n: number): string {
  const tens = n % 100;
  const ending = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${formatCount(n)}${ending}`;
}

// The most telling first; empty where nothing can be said.
export function insightSentences(insight: RunInsight): string[] {
  const sentences = [periodic, drift, outliers, warmUp, steady, memory].map((say) => say(insight));
  if (insight.reason && insight.steady_step_time_s === null) sentences.unshift(insight.reason);
  return sentences.filter(Boolean);
}
