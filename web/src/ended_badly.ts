// Runs that ended badly: that are over and not complete, or hang, whatever their status. One word
// for them wherever the pages speak of such runs, and one way to their list. Pure.
import type { Run } from "./api/types";

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

type Selection = Partial<
  Pick<Run, "workload" | "model_size" | "dtype" | "gpu_type" | "gpu_count" | "cluster">
>;

// The list of those that are of this configuration; null and what is not given: of any.
export function endedBadlyHref(selection: Selection = {}): string {
  const query = new URLSearchParams({ status: kEndedBadly });
  for (const [key, value] of Object.entries(selection)) {
    if (value !== null && value !== undefined) query.set(key, String(value));
  }
  return `/runs?${query}`;
}
