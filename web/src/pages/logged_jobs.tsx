// The jobs that the newest logs name, and were not submitted here: what became of each start.
import { useEffect, useRef, useState } from "preact/hooks";
import { fetchRuns } from "../api/client";
import { live } from "../api/live";
import type { Job, Run } from "../api/types";
import { endedBadlyHref } from "../ended_badly";
import { formatCause, formatPlural, kUnknown } from "../format";
import { OlderButton } from "../parts/older_button";
import { Pending } from "../parts/pending";
import { StatusMark } from "../parts/status_mark";
import { Table } from "../parts/table";
import { breakable, Instant } from "../parts/values";
import { useAnswer } from "../state/answer";
import { Coalescer } from "../state/coalesce";
import { loggedJobs, type LoggedJob } from "../state/logged_jobs";
import { askPages } from "../state/pages";

const kRunsAPage = 100;
const kGrowthEveryMs = 60_000;

export function LoggedJobs({ submitted }: { submitted: readonly Job[] }) {
  const [pages, setPages] = useState(1);
  const query = new URLSearchParams({ limit: String(kRunsAPage), sort: "-launched_at" });
  const answer = useAnswer(
    "jobs of logs",
    (abort) => askPages(pages, query, (page) => fetchRuns(page, abort)),
    (_, kind) => kind !== "grown",
    () => false,
    pages,
  );
  useGrowth(answer.refresh);
  const lists = answer.value.value;
  const hasMore = lists?.at(-1)?.next_cursor != null;
  const runs = lists?.flatMap((list) => list.runs) ?? [];
  const jobs = loggedJobs(runs, submitted);
  return (
    <section aria-labelledby="logged-title">
      <div class="section-head">
        <h2 id="logged-title">Jobs that the logs name</h2>
        <span class="count">
          {jobs.length > 0 && formatPlural(jobs.length, "job")}
          {hasMore && ", the newest"}
          {jobs.length > 0 && (
            <>
              {" · "}
              <a href={endedBadlyHref()}>runs that ended badly</a>
            </>
          )}
        </span>
      </div>
      <Pending answer={answer} what="the jobs" />
      {lists && jobs.length === 0 && (
        <p>
          {submitted.length > 0 ? "No other yet" : "None yet"}: a job's number is in the names of its
          log and its folder, and shows here with the log's first line.
        </p>
      )}
      {jobs.length > 0 && (
        <Table
          name="Jobs that the logs name"
          heads={["job", "what became of it", "experiment", "launched", "starts"]}
          rows={jobs.map((job) => [
            String(job.jobId),
            <Outcome run={job.runs[job.runs.length - 1]} />,
            <span class="wraps">
              {breakable(job.experiment)}
              {job.cluster && <span class="sub">{job.cluster}</span>}
            </span>,
            job.launchedAt ? <Instant at={job.launchedAt} /> : kUnknown,
            <Starts job={job} />,
          ])}
        />
      )}
      {hasMore && <OlderButton what="jobs of logs" onClick={() => setPages(pages + 1)} />}
    </section>
  );
}

// Logs grow all the time, and a page of runs is much to ask for. What growth alone tells of, the end
// of a run that becomes complete, is shown within a minute.
function useGrowth(refresh: () => void): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const growth = new Coalescer(kGrowthEveryMs, async () => latest.current());
    const unlisten = live.listen({
      onRun: ({ kind }) => kind === "grown" && growth.add(0),
      onReset: () => {},
    });
    return () => {
      unlisten();
      growth.stop();
    };
  }, []);
}

// Of its last start.
function Outcome({ run }: { run: Run | undefined }) {
  if (!run) return <>{kUnknown}</>;
  return (
    <>
      <StatusMark status={run.status} />
      {run.failure_cause && <span class="sub">{formatCause(run.failure_cause)}</span>}
    </>
  );
}

// A log that was copied is no start of its own.
function startNote(job: LoggedJob, run: Run): string {
  if (run.copy_of !== null) return ` (copy of run ${run.copy_of})`;
  const isOneOfSeveral = job.runs.length > 1;
  return isOneOfSeveral && run.failure_cause ? ` (${formatCause(run.failure_cause)})` : "";
}

function Starts({ job }: { job: LoggedJob }) {
  return (
    <>
      {job.runs.map((run, at) => (
        <span key={run.id}>
          {at > 0 && ", "}
          <a href={`/runs/${run.id}`}>run {run.id}</a>
          {startNote(job, run)}
        </span>
      ))}
    </>
  );
}
