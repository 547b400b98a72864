// The jobs that logs name: their retries under one number, the newest job first. Pure.
import type { Run } from "../api/types";

export interface LoggedJob {
  jobId: number;
  experiment: string;
  cluster: string | null;
  launchedAt: string | null;
  runs: Run[]; // one for each start, in their order
}

// Slurm uses numbers again, and clusters have their own: a job is of one launch.
export function loggedJobs(runs: readonly Run[]): LoggedJob[] {
  const jobs = new Map<string, LoggedJob>();
  for (const run of runs) {
    if (run.job_id === null) continue;
    const key = [run.root_id, run.cluster, run.job_id, run.experiment].join(" ");
    const job = jobs.get(key) ?? {
      jobId: run.job_id,
      experiment: run.experiment,
      cluster: run.cluster,
      launchedAt: run.launched_at,
      runs: [],
    };
    job.runs.push(run);
    jobs.set(key, job);
  }
  for (const { runs: starts } of jobs.values()) {
    starts.sort((a, b) => (a.retry ?? 0) - (b.retry ?? 0) || a.id - b.id);
  }
  return [...jobs.values()];
}
