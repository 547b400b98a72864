// The columns of the table of runs: what each shows of a run, how wide it is, how it is sorted.
import type { ComponentChildren } from "preact";
import type { Run } from "../api/types";
import {
  formatBytes,
  formatCause,
  formatCount,
  formatDeviation,
  formatDialect,
  formatInstant,
  formatNumber,
  formatPercent,
  formatProgress,
  formatSpeed,
  formatUtc,
  formatWorkload,
  kUnknown,
  progressFraction,
  splitExperiment,
  tellingFolders,
} from "../format";
import { Marks } from "../parts/marks";
import { StatusMark } from "../parts/status_mark";
import { Ago, runName } from "../parts/values";
import type { SortDirection } from "../state/list_state";
import { kAim } from "../state/standing";
import { zone } from "../state/zone";

export interface Column {
  key: string;
  title: string;
  width: number; // px, in the table; of the name the least
  isUsual: boolean | "wide"; // "wide": where the screen has the room
  need?: number; // of the usual: where there is less room, those of a lower one go first
  hint?: string;
  sort?: { key: string; first: SortDirection };
  isNumeric?: boolean;
  cell: (run: Run) => ComponentChildren;
}

export const kNameColumn: Column = {
  key: "experiment",
  title: "Experiment",
  width: 210,
  isUsual: true,
  sort: { key: "experiment", first: "ascending" },
  cell: (run) => <NameCell run={run} />,
};

const kAddedNeed = 7.5; // below those of status and step time

function number(
  key: string,
  title: string,
  width: number,
  hint: string,
  sort: Column["sort"] | null,
  cell: Column["cell"],
  isUsual: Column["isUsual"] = true,
  need = 0,
): Column {
  const order = sort ? { sort } : {};
  return { key, title, width, hint, isNumeric: true, isUsual, need, cell, ...order };
}

export const kColumns: Column[] = [
  number(
    "run",
    "Run",
    58,
    "The run's number, by which other pages name it",
    { key: "id", first: "descending" },
    (run) => String(run.id),
    true,
    6,
  ),
  {
    key: "status",
    title: "Status",
    width: 154,
    isUsual: true,
    need: 9,
    hint: "Status, and what it failed by",
    sort: { key: "status", first: "ascending" },
    cell: (run) => (
      <span title={run.status_reason}>
        <StatusMark status={run.status} />
        {run.failure_cause && <span class="sub cause">{formatCause(run.failure_cause)}</span>}
      </span>
    ),
  },
  kNameColumn,
  {
    key: "workload",
    title: "Workload",
    width: 126,
    isUsual: true,
    hint: "Workload, model size and dtype",
    cell: (run) => (
      <>
        {formatWorkload(run.workload)}
        <span class="sub">{[run.model_size, run.dtype].filter(Boolean).join(" · ")}</span>
      </>
    ),
  },
  number(
    "gpus",
    "GPUs",
    66,
    "Number and type of the GPUs",
    { key: "gpu_count", first: "descending" },
    (run) => (
      <>
        {run.gpu_count === null ? kUnknown : formatCount(run.gpu_count)}
        <span class="sub">{run.gpu_type ?? ""}</span>
      </>
    ),
    true,
    5,
  ),
  number(
    "step_time",
    "Step time, s",
    100,
    "Mean ± sample standard deviation over the window",
    { key: "step_time_s_mean", first: "ascending" },
    (run) => <StepTimeCell run={run} />,
    true,
    8,
  ),
  number(
    "tflops",
    "TFLOPS/GPU",
    108,
    "Mean over the window, as the log reports it",
    { key: "tflops_per_gpu_mean", first: "descending" },
    (run) => formatNumber(run.tflops_per_gpu_mean),
    true,
    1,
  ),
  number(
    "mfu",
    "MFU",
    78,
    "Model FLOPs utilization over the window, by the formula of the workload's own document",
    { key: "mfu", first: "descending" },
    (run) => formatPercent(run.mfu),
    true,
    3,
  ),
  number(
    "tokens",
    "Tokens/s/GPU",
    116,
    "Tokens per second and GPU over the window",
    { key: "tokens_per_s_per_gpu", first: "descending" },
    (run) => formatNumber(run.tokens_per_s_per_gpu),
    "wide",
  ),
  number(
    "published",
    "Of published",
    112,
    "Speed against the published result of the same recipe, scale, dtype and GPU",
    { key: "speed_against_reference", first: "ascending" },
    (run) => <PublishedCell speed={run.speed_against_reference} />,
    true,
    7,
  ),
  number(
    "progress",
    "Iteration",
    128,
    "The last iteration, of those that the run means to reach",
    { key: "last_iteration", first: "descending" },
    (run) => <ProgressCell run={run} />,
    true,
    2,
  ),
  number(
    "launched",
    "Launched",
    102,
    "When it was launched; empty where no folder of its path says so. Such runs are sorted by when they were first seen",
    { key: "launched_at", first: "descending" },
    (run) => <LaunchedCell run={run} />,
    true,
    4,
  ),
  number(
    "grown",
    "Grown",
    100,
    "When the log was last added to",
    { key: "grown_at", first: "descending" },
    (run) => <Ago at={run.grown_at} />,
    "wide",
  ),
  {
    key: "cause",
    title: "Failed by",
    width: 140,
    isUsual: false,
    hint: "Class of the failure that came first",
    sort: { key: "failure_cause", first: "ascending" },
    cell: (run) => (run.failure_cause ? formatCause(run.failure_cause) : kUnknown),
  },
  number(
    "window",
    "Window",
    96,
    "The iterations that count, as the log numbers them",
    null,
    (run) => <WindowCell run={run} />,
    false,
  ),
  number(
    "median",
    "Median, s",
    96,
    "Median step time over the window",
    { key: "step_time_s_median", first: "ascending" },
    (run) => formatNumber(run.step_time_s_median),
    false,
  ),
  number(
    "p95",
    "p95, s",
    92,
    "95th percentile of the step time over the window",
    { key: "step_time_s_p95", first: "ascending" },
    (run) => formatNumber(run.step_time_s_p95),
    false,
  ),
  number(
    "job",
    "Job",
    92,
    "Number of the Slurm job",
    null,
    (run) => (run.job_id === null ? kUnknown : String(run.job_id)),
    false,
  ),
  number(
    "steps",
    "Steps read",
    96,
    "Steps of all segments",
    { key: "step_count", first: "descending" },
    (run) => formatCount(run.step_count),
    false,
  ),
  number("size", "Log", 92, "Size of the log", null, (run) => formatBytes(run.size_bytes), false),
  {
    key: "release",
    title: "Release",
    width: 92,
    isUsual: false,
    hint: "Release of the recipes",
    cell: (run) => run.release ?? kUnknown,
  },
  {
    key: "cluster",
    title: "Cluster",
    width: 110,
    isUsual: false,
    cell: (run) => run.cluster ?? kUnknown,
  },
  {
    key: "dialect",
    title: "Written by",
    width: 148,
    isUsual: false,
    hint: "The program whose lines the log holds",
    cell: (run) => formatDialect(run.dialect),
  },
];

// What is shown only because its reader chose it is needed more than what is usual.
export function needOf(column: Column): number {
  if (column === kNameColumn) return Infinity;
  return column.isUsual === true ? (column.need ?? 0) : kAddedNeed;
}

// The name is always there.
export function shownColumns(chosen: readonly string[] | null, isWide: boolean): Column[] {
  const isUsual = (column: Column) => column.isUsual === true || (isWide && column.isUsual);
  return kColumns.filter(
    (column) => column === kNameColumn || (chosen ? chosen.includes(column.key) : isUsual(column)),
  );
}

function PublishedCell({ speed }: { speed: number | null }) {
  if (speed === null) return <>{kUnknown}</>;
  return (
    <span
      class={speed < kAim ? "below-line" : undefined}
      title={speed < kAim ? `below the aim of ${kAim} ×` : undefined}
    >
      {formatPercent(speed)}
      <span class="sub">{formatSpeed(speed)}</span>
    </span>
  );
}

const kCopyReason = "Its log has the same bytes: where both would count, that run does.";

function NameCell({ run }: { run: Run }) {
  const [head, tail] = splitExperiment(runName(run));
  const notes = [
    run.workload === null && tellingFolders(run.experiment, run.relative_path),
    run.job_id !== null && `job ${run.job_id}`,
    run.retry !== null && run.retry > 0 && `retry ${run.retry}`,
    run.segment_count > 1 && `${run.segment_count - 1} × restarted`,
    run.generation > 0 && "log rewritten",
    run.vanished_at && "log gone",
    tail.replace(/^_/, ""),
  ].filter(Boolean);
  return (
    <>
      <a
        class="name"
        href={`/runs/${run.id}`}
        title={run.experiment || run.relative_path}
        aria-label={`${head}, run ${run.id}`}
      >
        {head}
      </a>
      <span class="sub">
        <Marks marks={run.marks} />
        {run.copy_of !== null && (
          <a class="mark" href={`/runs/${run.copy_of}`} title={kCopyReason}>
            copy of run {run.copy_of}
          </a>
        )}
        {notes.join(" · ")}
      </span>
    </>
  );
}

function StepTimeCell({ run }: { run: Run }) {
  const isOne = run.step_time_s_count < 2; // which has no deviation
  const deviation = isOne
    ? ""
    : formatDeviation(run.step_time_s_mean, run.step_time_s_stddev_sample);
  return (
    <>
      {formatNumber(run.step_time_s_mean)}
      {deviation && <span class="sub">{deviation}</span>}
    </>
  );
}

function LaunchedCell({ run }: { run: Run }) {
  const at = run.launched_at;
  if (at === null) return <FirstSeen run={run} />;
  const [day, time] = formatInstant(at, zone.value).split(" ");
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {day}
      <span class="sub">{time}</span>
    </time>
  );
}

// What such a run is sorted by says why it stands where it does.
function FirstSeen({ run }: { run: Run }) {
  const seen = run.first_seen_at;
  return (
    <span title={`${run.launched_at_reason ?? ""} First seen ${formatUtc(seen)}.`.trim()}>
      {kUnknown}
      <span class="sub">seen {formatInstant(seen, zone.value).slice(5, 10)}</span>
    </span>
  );
}

function WindowCell({ run }: { run: Run }) {
  if (run.window_is_whole || run.status === "no_data") return <>{run.window}</>;
  const missing = run.iterations_missing_in_window;
  return (
    <>
      {run.window}
      {missing > 0 && <span class="sub">{missing} missing</span>}
    </>
  );
}

function ProgressCell({ run }: { run: Run }) {
  const fraction = progressFraction(run.last_iteration, run.declared_last_iteration);
  return (
    <>
      {formatProgress(run.last_iteration, run.declared_last_iteration)}
      {fraction !== null && (
        <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-all" width="100" height="4" rx="1" />
          <rect class="bar-done" width={100 * fraction} height="4" rx="1" />
        </svg>
      )}
    </>
  );
}
