// Runs that ended badly: that are over and not complete, or hang, whatever their status, but for
// those that did all that they were to do. One word for them wherever the pages speak of such runs,
// and one way to their list. Pure.
import type { Run } from "./api/types";
import { setSelection, type HistorySelection } from "./state/history";

export const kEndedBadly = "ended_badly"; // of the API's filter by status

export const kOverAndNotComplete: readonly string[] = [
  "failed",
  "incomplete",
  "invalid",
  "no_data",
];

type Ended = Pick<
  Run,
  "status" | "failure_cause" | "last_iteration" | "declared_last_iteration"
>;

// Five steps under an NCCL trace end before their window does.
function hasRunAllSteps(run: Ended): boolean {
  const { last_iteration: last, declared_last_iteration: declared } = run;
  const isToldOf = last !== null && declared !== null;
  return run.status === "incomplete" && !run.failure_cause && isToldOf && last >= declared;
}

export function endedBadly(run: Ended): boolean {
  if (run.failure_cause === "hung") return true;
  return kOverAndNotComplete.includes(run.status) && !hasRunAllSteps(run);
}

// The list of those that are of this configuration, and of a cluster, as the API asks for it.
export function endedBadlyHref(
  selection: Partial<HistorySelection> = {},
  cluster: string | null = null,
): string {
  const query = new URLSearchParams({ status: kEndedBadly });
  setSelection(query, selection);
  if (cluster !== null) query.set("cluster", cluster);
  return `/runs?${query}`;
}
