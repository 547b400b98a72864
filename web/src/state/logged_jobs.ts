// The jobs that logs name: their retries under one number, the newest job first. Pure.
import type { Job, Run } from "../api/types";

export interface LoggedJob {
  jobId: number;
  experiment: string;
  cluster: string | null;
  launchedAt: string | null;
  runs: Run[]; // one for each start, in their order
}

type SubmittedJob = Pick<Job, "job_id" | "experiment" | "cluster" | "launch_id">;

// What a log does not say keeps it from no job.
const agree = (a: string | null, b: string | null) => !a || !b || a === b;

const isOf = (run: Run) => (job: SubmittedJob) =>
  job.experiment === run.experiment &&
  agree(job.cluster, run.cluster) &&
  agree(job.launch_id, run.launch_id);

// Slurm uses numbers again, and clusters have their own: a job is of one launch. Those of `submitted`
// are told of elsewhere.
export function loggedJobs(
  runs: readonly Run[],
  submitted: readonly SubmittedJob[] = [],
): LoggedJob[] {
  const known = new Map<number | null, SubmittedJob[]>();
  for (const job of submitted) known.set(job.job_id, [...(known.get(job.job_id) ?? []), job]);
  const jobs = new Map<string, LoggedJob>();
  for (const run of runs) {
    if (run.job_id === null || known.get(run.job_id)?.some(isOf(run))) continue;
    const key = [run.root_id, run.cluster, run.job_id, run.experiment, run.launch_id].join(" ");
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
