// The newest jobs, followed by the stream of changes. Without a cluster there are none, and the
// server is not asked.
import { fetchJobs } from "../api/client";
import type { JobList } from "../api/types";
import { useAnswer, type Answer } from "./answer";
import { service } from "./service";

const kJobsShown = "200";
const kNone: JobList = { jobs: [], next_cursor: null, slurm_error: null };

// Null until the service has told.
export function jobsAreOn(): boolean | null {
  return service.value ? service.value.jobs_are_on : null;
}

export function useJobs(): Answer<JobList> {
  const areOn = jobsAreOn();
  return useAnswer<JobList>(
    `jobs ${areOn}`,
    async (abort) => (areOn ? fetchJobs(new URLSearchParams({ limit: kJobsShown }), abort) : kNone),
    () => false,
    () => true,
  );
}
