// "/jobs/ID": one job: what was submitted, what became of it, the end of what it writes, and the
// way to cancel it.
import { useState } from "preact/hooks";
import { asProblem, cancelJob, fetchJob } from "../api/client";
import type { JobDetails } from "../api/types";
import { formatKey, formatPlural, kUnknown } from "../format";
import { isOver, logWords } from "../job_words";
import { JobStateMark } from "../parts/job_state";
import { kAllJobs } from "../parts/panels";
import { Pending } from "../parts/pending";
import { Table } from "../parts/table";
import { TokenField } from "../parts/token_field";
import { UnknownKeys } from "../parts/unknown_keys";
import { Ago, breakable, Instant } from "../parts/values";
import { useAnswer } from "../state/answer";
import { jobsAreOn } from "../state/jobs";
import { usePageTitle } from "../state/page_title";
import { JobLogTail } from "./job_log";

export function JobPage({ id }: { id: number }) {
  const answer = useAnswer<JobDetails>(
    `job ${id}`,
    (abort) => fetchJob(id, abort),
    () => true, // a run that is new may be this job's
    (job) => job === id,
  );
  const job = answer.value.value;
  const areOn = jobsAreOn() === true; // not before the service has told: it may only show jobs
  usePageTitle(`Job ${job?.job_id ?? id}`);
  return (
    <>
      <p class="back">
        <a href="/jobs">← Jobs</a>
      </p>
      <UnknownKeys />
      {answer.problem.value && !job && (
        <div class="page-head">
          <h1>Job {id}</h1>
        </div>
      )}
      <Pending answer={answer} what="the job" elsewhere={kAllJobs} />
      {job && (
        <>
          <Head job={job} />
          <Progress job={job} />
          {!isOver(job.state) && areOn && <Cancel job={job} onDone={answer.refresh} />}
          {(job.runs.length > 0 || logWords(job).comes) && areOn && <JobLogTail job={job} />}
          <Submitted job={job} />
        </>
      )}
    </>
  );
}

function Head({ job }: { job: JobDetails }) {
  return (
    <header class="run-head">
      <h1 class="run-name">{breakable(job.experiment)}</h1>
      <p class="verdict">
        <JobStateMark state={job.state} />{" "}
        <span class="reason">{job.trouble ?? job.state_reason ?? ""}</span>
      </p>
      <p class="path">
        <code>{job.run_folder}</code>
      </p>
    </header>
  );
}

type Fact = [string, preact.ComponentChildren];

function Progress({ job }: { job: JobDetails }) {
  const sent: Fact[] = [
    ["Cluster", job.cluster],
    ["Submitted", <Instant at={job.created_at} />],
    ["By", job.submitted_by],
  ];
  const facts: Fact[] =
    job.state === "not_submitted"
      ? [["Slurm job", "none"], ...sent, ["Given up", <Instant at={job.ended_at} />]]
      : [
          ["Slurm job", job.job_id ?? (isOver(job.state) ? kUnknown : "not answered yet")],
          ...sent,
          ["Started", <Instant at={job.started_at} />],
          ["Ended", <Instant at={job.ended_at} />],
          ["Nodes", job.nodes ?? kUnknown],
          ["Restarts", String(job.restart_count)],
          ["Exit code", job.exit_code ?? kUnknown],
          ["Last seen", <Ago at={job.updated_at} />],
        ];
  return (
    <section aria-labelledby="job-title">
      <div class="section-head">
        <h2 id="job-title">What became of it</h2>
      </div>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {job.runs.length === 0 ? (
        <p class="window-note">{logWords(job).words}</p>
      ) : (
        <p class="window-note">
          {formatPlural(job.runs.length, "run")}, one for each start:{" "}
          {job.runs.map((run, at) => (
            <span key={run}>
              {at > 0 && ", "}
              <a href={`/runs/${run}`}>run {run}</a>
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

function Cancel({ job, onDone }: { job: JobDetails; onDone: () => void }) {
  const [token, setToken] = useState("");
  const [complaint, setComplaint] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  if (job.cancel_requested_at) {
    return (
      <section class="cancel">
        <p role="status">
          To be cancelled since <Instant at={job.cancel_requested_at} />; Slurm is asked again until
          it is gone.
        </p>
      </section>
    );
  }
  const submit = async (event: Event) => {
    event.preventDefault();
    setIsBusy(true);
    try {
      await cancelJob(job.id, token.trim());
      setComplaint("");
      onDone();
    } catch (error) {
      const { title, detail } = asProblem(error);
      setComplaint(`${title}: ${detail}`);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <section class="cancel" aria-labelledby="cancel-title">
      <details class="twin">
        <summary id="cancel-title">Cancel this job</summary>
        <form class="filters" onSubmit={(event) => void submit(event)}>
          <TokenField token={token} onToken={setToken} />
          <button type="submit" disabled={isBusy || token.trim() === ""}>
            Cancel job {job.job_id ?? ""}
          </button>
          <p class="field-problem" role="alert">
            {complaint}
          </p>
        </form>
        <p class="hint">
          Make one with <code>llmb-report token create NAME --scope submit</code>; the configuration
          lists it under <code>submitters</code>.
        </p>
      </details>
    </section>
  );
}

function Submitted({ job }: { job: JobDetails }) {
  if (!job.submission) return null;
  const entries = Object.entries(job.submission).filter(
    ([, value]) => value !== null && value !== "" && JSON.stringify(value) !== "{}",
  );
  return (
    <section aria-labelledby="submission-title">
      <div class="section-head">
        <h2 id="submission-title">What was submitted</h2>
      </div>
      <Table
        name="What was submitted"
        heads={["key", "value"]}
        rows={entries.map(([key, value]) => [
          formatKey(key),
          <span class="wraps">{typeof value === "string" ? value : JSON.stringify(value)}</span>,
        ])}
      />
    </section>
  );
}
