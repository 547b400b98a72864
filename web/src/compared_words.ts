// What a comparison says where there are no two groups to compare. Pure.
import type { Comparison } from "./api/types";

// Why there are no two runs, or no two named sides, to compare: a sentence for each run that is
// left out. Empty where there are, and where one run alone was asked for.
export function loneWords({ runs, groups }: Comparison): string[] {
  const leftOut = runs.filter(({ exclusion }) => exclusion !== null);
  const hasSides = groups.some(({ name }) => name !== null);
  const isLone = groups.length < 2 && (hasSides || runs.length - leftOut.length < 2);
  if (!isLone || runs.length < 2) return [];
  return leftOut.map(({ id, exclusion }) => `Run ${id} is left out. ${exclusion}`);
}
