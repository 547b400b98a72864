// An opened cell of the board: its runs, what it rests on, and the command that would fill or decide
// it.
import { CopyButton } from "../parts/copy_buttons";
import { Instant } from "../parts/values";
import { formatCount, formatPlural, formatSeconds } from "../format";
import { documentOf, kRunsNamed, submitCommand, type BoardCell } from "../state/board";
import { historyHref } from "../state/history";
import { jobsAreOn } from "../state/jobs";
import { compareHref, kPicksMax } from "../state/picks";
import { standingWords } from "../state/standing";

export function OpenCell({ cell, newest }: { cell: BoardCell; newest: string | null }) {
  const { reference } = cell;
  const command = submitCommand(cell);
  return (
    <section class="open-cell" aria-label={`${formatCount(reference.gpu_count)} GPUs`}>
      <p>{cell.words}</p>
      <dl class="facts">
        <div>
          <dt>Published step time</dt>
          <dd>
            {formatSeconds(reference.step_time_s)}
            <span class="sub">{documentOf(reference)}</span>
          </dd>
        </div>
        {cell.standing && (
          <div>
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
        {cell.variants.length > 0 && (
          <div>
            <dt>Runs of another environment or release</dt>
            <dd>
              <RunLinks ids={cell.variants} count={cell.variantCount} />
            </dd>
          </div>
        )}
        {cell.others.length > 0 && (
          <div>
            <dt>Runs that do not</dt>
            <dd>
              <RunLinks ids={cell.others} count={cell.otherCount} />
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
          <a href={compareHref(cell.runs.slice(-kPicksMax))}>Compare these runs</a>
        </p>
      )}
      {cell.variants.length > 0 && (
        <p>
          <a href={compareHref(bothOf(cell))}>Compare them with those that differ</a>
        </p>
      )}
      {cell.runs.length > 0 && (
        <p>
          <a href={historyHref(selectionOf(cell))}>Their step time over time</a>
        </p>
      )}
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
    </section>
  );
}

function selectionOf({ reference }: BoardCell) {
  const { workload, model_size, dtype, gpu_type, gpu_count } = reference;
  return { workload, model_size, dtype, gpu_type, gpu_count };
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
  return [...runs.slice(-kPicksMax / 2), ...variants.slice(-kPicksMax / 2)];
}

// The last of `ids`, of `count` runs in all.
export function RunLinks({ ids, count }: { ids: number[]; count: number }) {
  if (count === 0) return <>none</>;
  const named = ids.slice(-kRunsNamed);
  return (
    <>
      {named.map((id, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <a href={`/runs/${id}`}>run {id}</a>
        </span>
      ))}
      {count > named.length && ` and ${formatCount(count - named.length)} earlier`}
    </>
  );
}
