// What stands above a comparison where there is nothing, or not all, to compare: why not, and of
// one run alone how it stands against its published result.
import type { Comparison } from "../api/types";
import { barredText, loneWords, obstaclesTitle, publishedWords } from "../compared_words";
import { HintPanel } from "../parts/panels";
import { kPicksMax } from "../state/picks";
import { nameOfGroup } from "../state/sides";

export function Obstacles({ comparison }: { comparison: Comparison }) {
  const barred = comparison.comparisons.filter(({ obstacles }) => obstacles.length > 0);
  const lone = loneWords(comparison);
  if (barred.length === 0 && lone.length === 0) return null;
  return (
    <section class="banner" role="alert">
      <h2>{obstaclesTitle(comparison)}</h2>
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

// Of one run alone: how it stands against its published result.
export function SingleRun({ comparison: { runs, groups } }: { comparison: Comparison }) {
  const [run] = runs;
  if (!run || runs.length > 1) return null;
  return (
    <HintPanel title="Against its published result">
      <p>{publishedWords(run, groups[0])}</p>
      <p class="hint">
        To compare it with others, pick up to {kPicksMax - 1} more in the{" "}
        <a href={`/runs?pick=${run.id}`}>table of runs</a>.
      </p>
    </HintPanel>
  );
}
