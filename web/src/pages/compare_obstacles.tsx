// What stands above a comparison where there is nothing, or not all, to compare: why not.
import type { ComparedMetric as Metric, Comparison } from "../api/types";
import { loneWords } from "../compared_words";
import { nameOfGroup } from "../state/sides";

export function Obstacles({ comparison }: { comparison: Comparison }) {
  const barred = comparison.comparisons.filter(({ obstacles }) => obstacles.length > 0);
  const lone = loneWords(comparison);
  if (barred.length === 0 && lone.length === 0) return null;
  return (
    <section class="banner" role="alert">
      <h2>Not comparable</h2>
      {lone.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {barred.map(({ group, baseline, obstacles }) => (
        <p key={group}>
          {nameOfGroup(group, comparison.groups)} with {nameOfGroup(baseline, comparison.groups)}:{" "}
          {obstacles.map(({ text, metrics }) => `${text} ${barredText(metrics)}`).join(" ")}
        </p>
      ))}
    </section>
  );
}

const kInWords: Record<Metric, string> = {
  step_time_s: "step time",
  tokens_per_s_per_gpu: "tokens/s/GPU",
  tflops_per_gpu: "TFLOPS per GPU",
};

// Most obstacles bar every metric; then that goes without saying.
function barredText(metrics: string[]): string {
  if (metrics.length === Object.keys(kInWords).length) return "";
  const names = metrics.map((metric) => kInWords[metric as Metric] ?? metric);
  return `(This bars ${names.join(" and ")} only.)`;
}
