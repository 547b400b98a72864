// How many runs the table of runs has, in words. Pure.
import { formatCount, formatPlural } from "./format";

interface Counted {
  total: number;
  isTotalExact: boolean; // false: there are more
  isFiltered: boolean;
  printed?: number; // on paper: how many of them it has
}

// "520 runs"; on paper that has fewer, "the first 100 of 520 runs".
export function runsCountWords({ total, isTotalExact, isFiltered, printed }: Counted): string {
  const count = formatPlural(total, isFiltered ? "matching run" : "run");
  const all = isTotalExact ? count : `more than ${count}`;
  const isPart = printed !== undefined && (printed < total || !isTotalExact);
  return isPart ? `the first ${formatCount(printed)} of ${all}` : all;
}
