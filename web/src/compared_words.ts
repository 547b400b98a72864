// What a comparison says where there are no two groups to compare. Pure.
import type { ComparedRun, Comparison, RunGroup } from "./api/types";
import { standingWords } from "./state/standing";

// Why there are no two runs, or no two named sides, to compare: a sentence for each run that is
// left out. Empty where there are, and where one run alone was asked for.
export function loneWords({ runs, groups }: Comparison): string[] {
  const leftOut = runs.filter(({ exclusion }) => exclusion !== null);
  const hasSides = groups.some(({ name }) => name !== null);
  const isLone = groups.length < 2 && (hasSides || runs.length - leftOut.length < 2);
  if (!isLone || runs.length < 2) return [];
  return leftOut.map(({ id, exclusion }) => `Run ${id} is left out. ${exclusion}`);
}

// How a run alone stands against its published result, or why there is none to say.
export function publishedWords(run: ComparedRun, group: RunGroup | undefined): string {
  if (run.exclusion !== null) return `The run does not count. ${run.exclusion}`;
  const standing = group?.published_standing ?? null;
  if (standing) return `Published speed: ${standingWords(standing)}.`;
  return run.published.reason ?? "No published result is that of its configuration.";
}
