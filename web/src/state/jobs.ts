// The newest jobs, followed by the stream of changes. Without a cluster there are none, and the
// server is not asked, unless it only reads: then it shows those of its database.
import { fetchJobs } from "../api/client";
import type { JobList } from "../api/types";
import { useAnswer, type Answer } from "./answer";
import { askPages } from "./pages";
import { service } from "./service";

const kJobsAPage = "200";
const kNone: JobList = { jobs: [], next_cursor: null, slurm_error: null, slurm_asked_at: null };

// Null until the service has told.
export function jobsAreOn(): boolean | null {
  return service.value ? service.value.jobs_are_on : null;
}

export function jobsAreOnlyShown(): boolean {
  return service.value?.reads_only ?? false;
}

async function askJobs(pages: number, abort: AbortSignal): Promise<JobList> {
  const query = new URLSearchParams({ limit: kJobsAPage });
  const lists = await askPages(pages, query, (page) => fetchJobs(page, abort));
  return { ...(lists.at(-1) ?? kNone), jobs: lists.flatMap(({ jobs }) => jobs) };
}

// So many pages of them; null, too, until the service has told whether there are any.
export function useJobs(pages = 1): Answer<JobList | null> {
  const areOn = jobsAreOn();
  const areShown = areOn || jobsAreOnlyShown();
  return useAnswer<JobList | null>(
    `jobs ${areOn} ${areShown}`,
    async (abort) => (areShown ? askJobs(pages, abort) : areOn === null ? null : kNone),
    () => false,
    () => true,
    pages,
  );
}
