// What jobs and their Slurm do, in words. Pure.
import type { Job, JobList, JobState } from "./api/types";
import { formatKey, formatPlural } from "./format";

// Whether Slurm answers; it is asked only while there is a job to ask for.
export function slurmWords(list: Pick<JobList, "slurm_error" | "slurm_asked_at">): string {
  if (list.slurm_error !== null) return list.slurm_error.replace(/\.?$/, ".");
  return list.slurm_asked_at === null
    ? "This server has not asked it so far: it is asked while a job is under way, by one process of " +
        "those that share the database."
    : "It answered: the states of jobs are as it told them.";
}

// Of jobs that were sent together: "2 jobs sent: 1 running, 1 pending".
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
  return counts.has("not_submitted") ? `${what}: ${states}` : `${what} sent: ${states}`;
}

// Of a job without a run: whether a log of it can still come, and what to say of it.
export function logWords({ state, started_at }: Pick<Job, "state" | "started_at">): {
  comes: boolean;
  words: string;
} {
  if (!isOver(state)) {
    const words = "Its log has not been found yet; it appears here with its first line.";
    return { comes: true, words };
  }
  if (state === "not_submitted") {
    return { comes: false, words: "It was never queued: it has no log, and none will come." };
  }
  if (started_at !== null) return { comes: true, words: "It is over, and no log of it was found." };
  if (state === "cancelled" || state === "deadline_passed") {
    const words = "It ended before it started, as far as Slurm tells: no log was found.";
    return { comes: false, words };
  }
  // Slurm forgets a job soon: one that ended while nobody asked may have run, and has its log then.
  const words = "It is over; whether it started is not known, and no log of it was found.";
  return { comes: true, words };
}

export function isOver(state: JobState): boolean {
  return !["submitting", "pending", "running", "suspended", "completing", "unknown"].includes(
    state,
  );
}

const wordOf = (state: JobState) =>
  state === "submitting" ? "on the way to Slurm" : formatKey(state);
