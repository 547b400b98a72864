// What a run is and how it stands: name, status with its reason, where its log lies.
import type { ComponentChildren } from "preact";
import type { RunDetails } from "../api/types";
import {
  formatBytes,
  formatCount,
  formatDialect,
  formatInstant,
  formatKey,
  formatNumber,
  formatPlural,
  formatProgress,
  formatSpan,
  formatWorkload,
  kUnknown,
  parseInstant,
} from "../format";
import { endedBadly, endedBadlyHref } from "../ended_badly";
import { Sentences } from "../parts/sentences";
import { StatusMark } from "../parts/status_mark";
import { clusterWords } from "../cluster_words";
import { markReasons } from "../mark_words";
import { clusters } from "../state/clusters";
import { runHistoryHref } from "../state/history";
import { nowMs } from "../state/service";
import { zone } from "../state/zone";
import { Ago, ExperimentName, gpuText, Instant } from "../parts/values";

export function RunHeader({ run }: { run: RunDetails }) {
  const what = [run.workload && formatWorkload(run.workload), run.model_size, run.dtype]
    .filter(Boolean)
    .join(" ");
  const cluster = clusterWords(run, clusters.value);
  return (
    <header class="run-head">
      <h1 class="run-name">
        <ExperimentName run={run} />
      </h1>
      <p class={`verdict verdict-${run.status}`}>
        <StatusMark status={run.status} /> <span class="reason">{run.status_reason}</span>
        {endedBadly(run) && (
          <a class="sub" href={endedBadlyHref(run)}>
            runs like it that ended badly
          </a>
        )}
      </p>
      {run.failure_cause === "hung" && !run.is_superseded && <Hung run={run} silentS={run.silent_s ?? 0} />}
      <Notes run={run} />
      <dl class="facts">
        <Fact name="Run">{run.id}</Fact>
        <Fact name="Workload">
          {what || kUnknown}
          {run.step_count > 0 && (
            <a class="sub" href={runHistoryHref(run)}>
              its step time over time
            </a>
          )}
        </Fact>
        <Fact name="GPUs">{gpuText(run)}</Fact>
        {cluster !== null && <Fact name="Cluster">{cluster}</Fact>}
        <Fact name="Iteration">
          {formatProgress(run.last_iteration, run.declared_last_iteration)}
        </Fact>
        <Fact name="Steps read">{formatCount(run.step_count)}</Fact>
        <Fact name="Launched">
          <span title={run.launched_at_reason ?? ""}>
            <Instant at={run.launched_at} />
          </span>
        </Fact>
        <Fact name="Log grew">
          <Ago at={run.grown_at} />
        </Fact>
        <Fact name="Job">
          {run.job ? (
            <a href={`/jobs/${run.job.id}`}>
              {jobText(run)}, {formatKey(run.job.state)}
            </a>
          ) : run.job_id === null ? (
            kUnknown
          ) : (
            <a href={`/runs?job_id=${run.job_id}`} title="The runs of this job">
              {jobText(run)}
            </a>
          )}
        </Fact>
        <Fact name="Log">
          {formatDialect(run.dialect)}, {formatBytes(run.size_bytes)}
        </Fact>
      </dl>
      <p class="path">
        <code>
          {run.root && `${run.root.replace(/\/$/, "")}/`}
          {run.relative_path}
        </code>
      </p>
    </header>
  );
}

// The silence goes on; how long it is by now follows from when the log last grew.
function Hung({ run, silentS }: { run: RunDetails; silentS: number }) {
  const grown = parseInstant(run.grown_at);
  const now = grown ? Math.max(silentS, (nowMs.value - grown.getTime()) / 1000) : silentS;
  return (
    <p class="hung">
      <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
        <circle cx="7" cy="7" r="5.25" class="stroke" />
        <path d="M7 4V7.4L9.2 8.8" class="stroke" />
      </svg>
      <span>
        <b role="status">Hung</b>: silent for {formatSpan(now)}
        {grown && (
          <>
            , since <Instant at={run.grown_at} />,
          </>
        )}{" "}
        without a word of an end. The verdict goes as soon as the log grows.
      </span>
    </p>
  );
}

function jobText(run: RunDetails): string {
  return run.retry ? `${run.job_id}, retry ${run.retry}` : String(run.job_id);
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

// What a reader must know before believing the numbers. Restarts the status says: its reason counts
// them, and names the pass that counts.
function Notes({ run }: { run: RunDetails }) {
  const notes: string[] = [];
  if (run.vanished_at) {
    notes.push(
      `The log is gone since ${formatInstant(run.vanished_at, zone.value)}; its steps are kept.`,
    );
  }
  const reasons = markReasons(run.marks);
  if (reasons.length > 0) {
    notes.push(...reasons, "Comparisons leave such a run out unless they are asked for it.");
  }
  if (run.reported_tflops_per_gpu !== null) {
    notes.push(
      `At its end the log reports ${formatNumber(run.reported_tflops_per_gpu)} TFLOPS per GPU for ` +
        "the whole run.",
    );
  }
  if (run.lines_not_understood > 0) {
    notes.push(
      `${formatPlural(run.lines_not_understood, "line")} looked like a step but could not be read.`,
    );
  }
  if (run.lines_too_long > 0) {
    notes.push(`${formatPlural(run.lines_too_long, "line")} over 1 MiB left out.`);
  }
  const original = run.copy_of;
  const copied = original !== null && (
    <>
      <b class="mark">copy</b> Its log has the bytes of <a href={`/runs/${original}`}>run {original}</a>
      : they are one run, and where both would count, in a comparison, or in the history and the
      board of one cluster, run {original} alone does.
    </>
  );
  const rewritten = run.is_superseded && (
    <>
      The log was rewritten since: <NewerRun id={run.superseded_by} /> stands in its place.
    </>
  );
  return <Sentences first={rewritten || copied} sentences={notes} />;
}

function NewerRun({ id }: { id: number | null }) {
  return id === null ? <>a newer run</> : <a href={`/runs/${id}`}>run {id}</a>;
}
