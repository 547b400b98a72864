// What became of jobs that were sent together: "2 jobs sent: 1 running, 1 pending". Pure.
import type { Job, JobState } from "./api/types";
import { formatKey, formatPlural } from "./format";

export function sentWords(jobs: readonly Pick<Job, "state">[]): string {
  const what = formatPlural(jobs.length, "job");
  if (jobs.every(({ state }) => state === "submitting")) return `${what} on the way to Slurm`;
  const counts = new Map<JobState, number>();
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  const [only] = counts.keys();
  const states =
    only && counts.size === 1
      ? wordOf(only)
      : [...counts].map(([state, count]) => `${count} ${wordOf(state)}`).join(", ");
  return `${what} sent: ${states}`;
}

const wordOf = (state: JobState) =>
  state === "submitting" ? "on the way to Slurm" : formatKey(state);
