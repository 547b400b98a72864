// "/jobs": the jobs that were submitted here, the newest first, as Slurm has them, and those that the
// logs name.
import { useState } from "preact/hooks";
import type { Job } from "../api/types";
import { formatPlural, kUnknown } from "../format";
import { isOver } from "../job_words";
import { JobStateMark } from "../parts/job_state";
import { OlderButton } from "../parts/older_button";
import { HintPanel, Loading, ProblemPanel } from "../parts/panels";
import { Table } from "../parts/table";
import { UnknownKeys } from "../parts/unknown_keys";
import { Ago, breakable, Instant } from "../parts/values";
import { queryValue } from "../state/page_query";
import { LoggedJobs } from "./logged_jobs";
import { SubmitForm } from "./submit_form";
import { jobsAreOn, jobsAreOnlyShown, useJobs } from "../state/jobs";
import { usePageTitle } from "../state/page_title";
import { refreshService, unanswered } from "../state/service";

export function JobsPage() {
  usePageTitle("Jobs");
  const [pages, setPages] = useState(1);
  const { value, problem, refresh } = useJobs(pages);
  const areOn = jobsAreOn();
  const trouble = problem.value ?? unanswered.value?.problem;
  const askAgain = () => {
    void refreshService();
    refresh();
  };
  const list = areOn === null ? null : value.value;
  return (
    <>
      <div class="page-head">
        <h1>Jobs</h1>
        <p class="count">
          {list && list.jobs.length > 0 && formatPlural(list.jobs.length, "job")}
          {list?.next_cursor && ", the newest"}
        </p>
      </div>
      <UnknownKeys />
      {trouble && <ProblemPanel problem={trouble} retry={askAgain} />}
      {!list && !trouble && <Loading what="the jobs" />}
      {list?.slurm_error && (
        <section class="banner" role="alert">
          <h2>Slurm gives no answer</h2>
          <p>{list.slurm_error}</p>
          {list.jobs.some(({ state }) => !isOver(state)) && (
            <p>The states below are as they were last seen.</p>
          )}
        </section>
      )}
      {areOn === false && (jobsAreOnlyShown() ? <JobsAreOnlyShown /> : <JobsAreOff />)}
      {areOn && (
        <SubmitForm isOpen={queryValue("workload") !== ""} jobs={value.value?.jobs ?? []} />
      )}
      {list && areOn && list.jobs.length === 0 && (
        <HintPanel title="No job yet">
          <p>Submit one, here or from a machine with this configuration:</p>
          <pre tabIndex={0}>
            llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --scale 128 --dry-run
          </pre>
          <p>
            Without <code>--dry-run</code> it is queued. The <a href="/">board</a> has the command
            of every published configuration.
          </p>
        </HintPanel>
      )}
      {list && list.jobs.length > 0 && (
        <section>
          <JobTable jobs={list.jobs} />
          {list.next_cursor && <OlderButton what="jobs" onClick={() => setPages(pages + 1)} />}
        </section>
      )}
      {list && <LoggedJobs submitted={list.jobs} />}
    </>
  );
}

function JobsAreOnlyShown() {
  return (
    <p>
      This server only reads its database: jobs are submitted and cancelled, and their logs read,
      where their cluster is configured.
    </p>
  );
}

function JobsAreOff() {
  return (
    <HintPanel title="Jobs are off">
      <p>
        This server neither submits nor follows jobs, for its configuration names no cluster. Give
        it one:
      </p>
      <pre tabIndex={0}>{`cluster:
  name: eos
  workload_folder: /lustre/llmb/workloads/pretrain_grok1
  gpu_type: gb200
  gpus_per_node: 4`}</pre>
      <p>
        Then start it with <code>llmb-report serve --config llmb.yaml</code>.
      </p>
    </HintPanel>
  );
}

function JobTable({ jobs }: { jobs: Job[] }) {
  return (
    <Table
      name="Jobs"
      heads={["job", "state", "experiment", "submitted", "by", "started", "ended", "nodes"]}
      rows={jobs.map((job) => [
        <a href={`/jobs/${job.id}`}>{job.job_id ?? `submission ${job.id}`}</a>,
        <>
          <JobStateMark state={job.state} />
          <span class="sub why">{job.trouble ?? job.state_reason ?? ""}</span>
        </>,
        <span class="wraps">
          {breakable(job.experiment)}
          {job.restart_count > 0 && (
            <span class="sub">{formatPlural(job.restart_count, "restart")}</span>
          )}
        </span>,
        <Ago at={job.created_at} />,
        job.submitted_by,
        <Instant at={job.started_at} />,
        job.state === "not_submitted" ? kUnknown : <Instant at={job.ended_at} />,
        job.nodes ?? kUnknown,
      ])}
    />
  );
}
