// The jobs that the newest logs name, for a server that follows none: what became of each start.
import { fetchRuns } from "../api/client";
import type { Run } from "../api/types";
import { formatCause, formatPlural, kUnknown } from "../format";
import { Pending } from "../parts/pending";
import { StatusMark } from "../parts/status_mark";
import { Table } from "../parts/table";
import { breakable, Instant } from "../parts/values";
import { useAnswer } from "../state/answer";
import { loggedJobs, type LoggedJob } from "../state/logged_jobs";

const kRunsAsked = 100;

export function LoggedJobs() {
  const query = new URLSearchParams({ limit: String(kRunsAsked), sort: "-launched_at" });
  const answer = useAnswer(
    "jobs of logs",
    (abort) => fetchRuns(query, abort),
    () => true,
  );
  const list = answer.value.value;
  const jobs = list ? loggedJobs(list.runs) : [];
  return (
    <section aria-labelledby="logged-title">
      <div class="section-head">
        <h2 id="logged-title">Jobs that the logs name</h2>
        <span class="count">
          {jobs.length > 0 && formatPlural(jobs.length, "job")}
          {list?.next_cursor && ", the newest"}
        </span>
      </div>
      <Pending answer={answer} what="the jobs" />
      {list && jobs.length === 0 && (
        <p>
          None yet: a job's number is in the names of its log and its folder, and shows here with the
          log's first line.
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
    </section>
  );
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

function Starts({ job }: { job: LoggedJob }) {
  return (
    <>
      {job.runs.map((run, at) => (
        <span key={run.id}>
          {at > 0 && ", "}
          <a href={`/runs/${run.id}`}>run {run.id}</a>
          {job.runs.length > 1 && run.failure_cause && ` (${formatCause(run.failure_cause)})`}
        </span>
      ))}
    </>
  );
}
