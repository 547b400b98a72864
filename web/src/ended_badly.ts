// Runs that ended badly: that are over and not complete, or hang, whatever their status. One word
// for them wherever the pages speak of such runs, and one way to their list. Pure.
import type { Run } from "./api/types";
import { setSelection, type HistorySelection } from "./state/history";

export const kEndedBadly = "ended_badly"; // of the API's filter by status

export const kOverAndNotComplete: readonly string[] = [
  "failed",
  "incomplete",
  "invalid",
  "no_data",
];

export function endedBadly(run: Pick<Run, "status" | "failure_cause">): boolean {
  return kOverAndNotComplete.includes(run.status) || run.failure_cause === "hung";
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
