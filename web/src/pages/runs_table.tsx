// The table of runs. Roles are spelled out because narrow screens lay rows out as cards, and
// browsers drop a table's meaning when its display changes.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Run } from "../api/types";
import {
  formatDeviation,
  formatInstant,
  formatNumber,
  formatProgress,
  formatUtc,
  kUnknown,
  progressFraction,
} from "../format";
import { StatusMark } from "../parts/status_mark";
import { Ago, breakable, ExperimentName, gpuText, runName } from "../parts/values";
import { sortDirection, type SortDirection } from "../state/list_state";
import { kPicksMax } from "../state/picks";

interface Column {
  key: string;
  title: string;
  hint?: string;
  sort?: { key: string; first: SortDirection };
  isNumeric?: boolean;
  cell: (run: Run) => ComponentChildren;
}

const kColumns: Column[] = [
  {
    key: "status",
    title: "Status",
    sort: { key: "status", first: "ascending" },
    cell: (run) => (
      <span title={run.status_reason}>
        <StatusMark status={run.status} />
      </span>
    ),
  },
  {
    key: "experiment",
    title: "Experiment",
    sort: { key: "experiment", first: "ascending" },
    cell: (run) => <NameCell run={run} />,
  },
  {
    key: "workload",
    title: "Workload",
    hint: "Workload, model size and dtype",
    cell: (run) => (
      <>
        {breakable(run.workload ?? kUnknown)}
        <span class="sub">{[run.model_size, run.dtype].filter(Boolean).join(" · ")}</span>
      </>
    ),
  },
  {
    key: "gpus",
    title: "GPUs",
    sort: { key: "gpu_count", first: "descending" },
    isNumeric: true,
    cell: gpuText,
  },
  {
    key: "window",
    title: "Window",
    hint: "The iterations that count, as the log numbers them",
    isNumeric: true,
    cell: (run) => <WindowCell run={run} />,
  },
  {
    key: "step_time",
    title: "Step time, s",
    hint: "Mean ± sample standard deviation over the window",
    sort: { key: "step_time_s_mean", first: "ascending" },
    isNumeric: true,
    cell: (run) => <StepTimeCell run={run} />,
  },
  {
    key: "tflops",
    title: "TFLOPS / GPU",
    hint: "Mean over the window, as the log reports it",
    sort: { key: "tflops_per_gpu_mean", first: "descending" },
    isNumeric: true,
    cell: (run) => formatNumber(run.tflops_per_gpu_mean),
  },
  {
    key: "progress",
    title: "Iteration",
    sort: { key: "last_iteration", first: "descending" },
    isNumeric: true,
    cell: (run) => <ProgressCell run={run} />,
  },
  {
    key: "launched",
    title: "Launched",
    sort: { key: "launched_at", first: "descending" },
    isNumeric: true,
    cell: (run) => <LaunchedCell run={run} />,
  },
  {
    key: "grown",
    title: "Grown",
    hint: "When the log was last added to",
    sort: { key: "grown_at", first: "descending" },
    isNumeric: true,
    cell: (run) => <Ago at={run.grown_at} />,
  },
];

function columnClass(column: Column): string {
  return `${column.isNumeric ? "number " : ""}col-${column.key}`;
}

function NameCell({ run }: { run: Run }) {
  const notes = [
    run.job_id !== null && `job ${run.job_id}`,
    run.retry !== null && run.retry > 0 && `retry ${run.retry}`,
    run.segment_count > 1 && `${run.segment_count - 1} × restarted`,
    run.generation > 0 && `log rewritten`,
  ].filter(Boolean);
  return (
    <>
      <a class="name" href={`/runs/${run.id}`} title={run.relative_path}>
        <ExperimentName run={run} />
      </a>
      {notes.length > 0 && <span class="sub">{notes.join(" · ")}</span>}
    </>
  );
}

function StepTimeCell({ run }: { run: Run }) {
  const deviation = formatDeviation(run.step_time_s_mean, run.step_time_s_stddev_sample);
  return (
    <>
      {formatNumber(run.step_time_s_mean)}
      {deviation && <span class="sub">{deviation}</span>}
    </>
  );
}

function LaunchedCell({ run }: { run: Run }) {
  const at = run.launched_at ?? run.first_seen_at;
  const [day, time] = formatInstant(at).split(" ");
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {day}
      <span class="sub">{time}</span>
    </time>
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

interface Props {
  runs: Run[];
  sort: string;
  isBusy: boolean;
  picks: number[];
  onPick: (id: number) => void;
  onSort: (key: string, first: SortDirection) => void;
}

export function RunsTable({ runs, sort, isBusy, picks, onPick, onSort }: Props) {
  const isFull = picks.length >= kPicksMax;
  return (
    <table class="runs" role="table" aria-busy={isBusy}>
      <caption class="visually-hidden">Runs, one row for each training log</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col" class="col-pick">
            <span class="visually-hidden">Compare</span>
          </th>
          {kColumns.map((column) => (
            <Header key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {runs.map((run) => (
          <Row
            key={run.id}
            run={run}
            isPicked={picks.includes(run.id)}
            mayPick={!isFull}
            onPick={onPick}
          />
        ))}
      </tbody>
    </table>
  );
}

function Header({ column, sort, onSort }: { column: Column } & Pick<Props, "sort" | "onSort">) {
  const { sort: order } = column;
  const direction = order ? sortDirection(sort, order.key) : null;
  return (
    <th
      role="columnheader"
      scope="col"
      class={columnClass(column)}
      title={column.hint}
      {...(order ? { "aria-sort": direction ?? "none" } : {})}
    >
      {order ? (
        <button type="button" class="sort" onClick={() => onSort(order.key, order.first)}>
          {column.title}
          {direction && (
            <span class="arrow" aria-hidden="true">
              {direction === "ascending" ? "↑" : "↓"}
            </span>
          )}
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

interface RowProps {
  run: Run;
  isPicked: boolean;
  mayPick: boolean;
  onPick: (id: number) => void;
}

// Its cells are kept as they are until the run changes; the ages in them keep themselves up to
// date.
function Row({ run, isPicked, mayPick, onPick }: RowProps) {
  const cells = useMemo(
    () => (
      <>
        {kColumns.map((column) => (
          <td key={column.key} role="cell" class={columnClass(column)} data-label={column.title}>
            {column.cell(run)}
          </td>
        ))}
      </>
    ),
    [run],
  );
  return (
    <tr role="row" data-run={run.id} data-revision={run.revision}>
      <td role="cell" class="col-pick" data-label="Compare">
        <input
          type="checkbox"
          aria-label={`Compare ${runName(run)}`}
          checked={isPicked}
          disabled={!isPicked && !mayPick}
          onChange={() => onPick(run.id)}
        />
      </td>
      {cells}
    </tr>
  );
}
