// An opened cell of the board: its runs, what it rests on, and the command that would fill or decide
// it. Esc closes it.
import { CopyButton } from "../parts/copy_buttons";
import { Instant } from "../parts/values";
import { endedBadlyHref } from "../ended_badly";
import { formatCount, formatPlural, formatSeconds } from "../format";
import {
  documentOf,
  gpusOf,
  kBoardInclude,
  kRunsNamed,
  submitCommand,
  type BoardCell,
} from "../state/board";
import { clusterKey, kNoCluster } from "../cluster_words";
import { useEscape } from "../state/escape_key";
import { historyHref } from "../state/history";
import { jobsAreOn } from "../state/jobs";
import { compareHref, kPicksMax } from "../state/picks";
import { kStateWords, standingWords } from "../state/standing";

interface Props {
  cell: BoardCell;
  cluster: string | null;
  newest: string | null;
  onClose: () => void;
}

export function OpenCell({ cell, cluster, newest, onClose }: Props) {
  useEscape(onClose);
  const { reference } = cell;
  const name = [gpusOf(cell), cluster].filter(Boolean).join(", ");
  const ofCluster = cluster === kNoCluster ? "" : (cluster ?? "");
  return (
    <section class="open-cell" aria-label={name}>
      <p>{cell.words}</p>
      {reference.is_proxy && (
        <p class="hint">
          A proxy has fewer layers than the model, so that it fits: its runs stand against the
          published proxy, and say nothing of the model's own speed.
        </p>
      )}
      <dl class="facts">
        {cluster !== null && (
          <div>
            <dt>Cluster</dt>
            <dd>{cluster}</dd>
          </div>
        )}
        <div>
          <dt>Published step time</dt>
          <dd>
            {formatSeconds(reference.step_time_s)}
            <span class="sub">{documentOf(reference)}</span>
          </dd>
        </div>
        {cell.standing && (
          <div class="is-wide">
            <dt>The published speed itself</dt>
            <dd>{standingWords(cell.standing)}</dd>
          </div>
        )}
        <div>
          <dt>Runs that count</dt>
          <dd>
            <RunLinks ids={cell.runs} count={cell.runCount} />
          </dd>
        </div>
        {cell.variants.map(({ name, state, runs, runCount }) => (
          <div key={runs[0]}>
            <dt>Runs with {name}</dt>
            <dd>
              <RunLinks ids={runs} count={runCount} />
              <span class="sub">{kStateWords[state]}</span>
            </dd>
          </div>
        ))}
        {cell.others.length > 0 && (
          <div>
            <dt>Runs that do not</dt>
            <dd>
              <RunLinks ids={cell.others} count={cell.otherCount} reasons={cell.otherReasons} />
            </dd>
          </div>
        )}
        {newest && (
          <div>
            <dt>Newest</dt>
            <dd>
              <Instant at={newest} />
            </dd>
          </div>
        )}
      </dl>
      {cell.runs.length > 1 && cell.variants.length === 0 && (
        <p>
          <a href={comparisonOf(cell, cell.runs.slice(-kPicksMax))}>Compare these runs</a>
        </p>
      )}
      {cell.variants.length > 0 && (
        <p>
          <a href={comparisonOf(cell, bothOf(cell))}>Compare them with those that differ</a>
        </p>
      )}
      {cell.runs.length > 0 && (
        <p>
          <a href={historyHref(reference, includeOf(cell), ofCluster)}>
            Their step time over time
          </a>
        </p>
      )}
      {cell.endedBadly && (
        <p>
          <a href={endedBadlyHref(reference, cluster === null ? null : clusterKey(cluster))}>
            Its runs that ended badly
          </a>
        </p>
      )}
      {cell.repeats > 0 && <Command cell={cell} />}
    </section>
  );
}

// Beside the state of a cell, which is that of all its runs.
export function SinceMark({ cell: { since } }: { cell: BoardCell }) {
  return since && <span class={`cell-kind told-${since.verdict}`}> {since.verdict} since</span>;
}

function Command({ cell }: { cell: BoardCell }) {
  const command = submitCommand(cell);
  return (
    <>
      <p class="command-head">
        {formatPlural(cell.repeats, "run")} more:{" "}
        <CopyButton label="Copy the command" text={() => command} />
      </p>
      <pre class="command" tabIndex={0}>
        {command}
      </pre>
      {jobsAreOn() && (
        <p>
          <a href={`/jobs?${submissionQuery(cell)}`}>Submit it from here</a>
        </p>
      )}
    </>
  );
}

const includeOf = ({ reference }: BoardCell) => (reference.is_proxy ? kBoardInclude : "");

// A comparison leaves proxies out, unless it is asked for them.
function comparisonOf(cell: BoardCell, runs: number[]): string {
  const include = includeOf(cell);
  return compareHref(runs) + (include && `&include=${include}`);
}

export function submissionQuery({ reference, repeats }: BoardCell): URLSearchParams {
  return new URLSearchParams({
    workload: reference.workload,
    model_size: reference.model_size,
    dtype: reference.dtype,
    gpu_type: reference.gpu_type,
    scale: String(reference.gpu_count),
    repeats: String(repeats),
  });
}

// As many of either as a comparison takes.
function bothOf({ runs, variants }: BoardCell): number[] {
  const differing = variants[0]?.runs ?? [];
  return [...runs.slice(-kPicksMax / 2), ...differing.slice(-kPicksMax / 2)];
}

interface RunLinksProps {
  ids: number[];
  count: number;
  reasons?: ReadonlyMap<number, string>; // that stand behind the runs
}

// The last of `ids`, of `count` runs in all.
export function RunLinks({ ids, count, reasons }: RunLinksProps) {
  if (count === 0) return <>none</>;
  const named = ids.slice(-kRunsNamed);
  return (
    <span class="run-links">
      {named.map((id, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <a href={`/runs/${id}`}>run {id}</a>
          {reasons?.has(id) && ` (${reasons.get(id)})`}
        </span>
      ))}
      {count > named.length && ` and ${formatCount(count - named.length)} earlier`}
    </span>
  );
}
