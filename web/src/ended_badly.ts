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

type Ended = Pick<Run, "status" | "failure_cause" | "has_run_all_steps">;

export function endedBadly(run: Ended): boolean {
  if (run.failure_cause === "hung") return true;
  return kOverAndNotComplete.includes(run.status) && !run.has_run_all_steps;
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
