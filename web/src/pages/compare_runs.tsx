// The runs that are compared, with what each amounts to.
import type { ComparedRun, Comparison, RunGroup } from "../api/types";
import { originWords } from "../alike_runs";
import { markWordsOf, publishedOver, windowTouches } from "../compared_words";
import { formatNumber, formatSpeed, kUnknown, tellingFolders } from "../format";
import { includableMarks } from "../mark_words";
import { LeftOutRuns } from "../parts/left_out";
import { StatusMark } from "../parts/status_mark";
import { breakable } from "../parts/values";
import { measuredRunHref } from "../state/measuring";
import { kPicksMin } from "../state/picks";
import { nameOfGroup } from "../state/sides";
import { GroupsForm } from "./compare_groups";

const kHeads = [
  "group",
  "run",
  "status",
  "window",
  "step time, s",
  "tokens/s/GPU",
  "TFLOPS/GPU",
  "to published",
];
const kFirstNumber = kHeads.indexOf("window");

export function ComparedRuns({ comparison }: { comparison: Comparison }) {
  const leftOut = comparison.runs.filter((run) => run.exclusion !== null);
  return (
    <section aria-labelledby="compared-title">
      <div class="section-head">
        <h2 id="compared-title">Runs</h2>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of the runs">
        <table class="plain stacked compared" role="table">
          <thead role="rowgroup">
            <tr role="row">
              {kHeads.map((head, at) => (
                <th
                  key={head}
                  role="columnheader"
                  scope="col"
                  class={at < kFirstNumber ? undefined : "number"}
                >
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {comparison.runs.map((run) => (
              <RunRow
                key={run.id}
                run={run}
                groups={comparison.groups}
                origin={originWords(run, comparison.runs, " · ")}
              />
            ))}
          </tbody>
        </table>
      </div>
      <LeftOutRuns
        runs={leftOut.map((run) => ({ ...run, reason: run.exclusion ?? "" }))}
        offered={includableMarks(leftOut, hasResult)}
      />
      {comparison.runs.length >= kPicksMin && (
        <GroupsForm key={comparison.runs.map(({ id }) => id).join()} runs={comparison.runs} />
      )}
    </section>
  );
}

const hasResult = (run: ComparedRun) =>
  run.step_time_s_mean !== null || run.tokens_per_s_per_gpu !== null;

interface RowProps {
  run: ComparedRun;
  groups: RunGroup[];
  origin: string;
}

function RunRow({ run, groups, origin }: RowProps) {
  const { published } = run;
  const speed = published.speed_against_reference;
  const over = publishedOver(run);
  return (
    <tr role="row" class={run.group === null ? "is-left-out" : ""}>
      <td role="cell" data-label="group">
        {run.group === null ? kUnknown : nameOfGroup(run.group, groups)}
      </td>
      <th role="rowheader" scope="row" class="run-cell">
        <a href={measuredRunHref(run.id)}>{breakable(run.experiment || run.path)}</a>
        <span class="sub">
          {[
            `run ${run.id}`,
            tellingFolders(run.experiment, run.path),
            run.job_id !== null && `job ${run.job_id}`,
            origin,
            ...markWordsOf(run),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </th>
      <td role="cell" data-label="status">
        <StatusMark status={run.status} />
      </td>
      <td role="cell" class="number" data-label="window">
        {run.window}
        {windowTouches(run).map((words) => (
          <span key={words} class="sub">
            {words}
          </span>
        ))}
      </td>
      <NumberCell head="step time, s" value={run.step_time_s_mean} />
      <NumberCell head="tokens/s/GPU" value={run.tokens_per_s_per_gpu} />
      <NumberCell head="TFLOPS/GPU" value={run.tflops_per_gpu_mean} />
      <td
        role="cell"
        class="number"
        data-label="to published"
        title={published.reason ?? `window ${published.window}`}
      >
        {speed === null ? kUnknown : formatSpeed(speed)}
        {over && <span class="sub">{over}</span>}
      </td>
    </tr>
  );
}

function NumberCell({ head, value }: { head: string; value: number | null }) {
  return (
    <td role="cell" class="number" data-label={head}>
      {formatNumber(value)}
    </td>
  );
}
