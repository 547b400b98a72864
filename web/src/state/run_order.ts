// Whether rows that changed while the list was looked at still stand where its sort has them. Pure.
import type { Run } from "../api/types";

type SortValue = number | string | null;

// As the API sorts: a launch that is not known is when the run was first seen.
export function sortValue(run: Run, sort: string): SortValue {
  const key = sort.replace(/^-/, "");
  if (key === "launched_at") return run.launched_at ?? run.first_seen_at;
  return (run as unknown as Record<string, SortValue>)[key] ?? null;
}

// Rows without a value come last either way, and the id decides between equal ones.
function stands(upper: Run, lower: Run, sort: string): boolean {
  const isDescending = sort.startsWith("-");
  const above = sortValue(upper, sort);
  const below = sortValue(lower, sort);
  const isRising = (a: number | string, b: number | string) => (isDescending ? a > b : a < b);
  if (above === below) return isRising(upper.id, lower.id);
  if (above === null || below === null) return below === null;
  return isRising(above, below);
}

// `before`: the rows that `after` shows anew, where they differ. `isWhole`: no row lies beyond the
// last, past which a changed one might belong.
export function isStillSorted(
  before: ReadonlyMap<number, Run>,
  after: readonly Run[],
  sort: string,
  isWhole: boolean,
): boolean {
  return after.every((run, at) => {
    const was = before.get(run.id);
    if (!was || sortValue(was, sort) === sortValue(run, sort)) return true;
    const upper = after[at - 1];
    const lower = after[at + 1];
    if (upper && !stands(upper, run, sort)) return false;
    return lower ? stands(run, lower, sort) : isWhole;
  });
}
