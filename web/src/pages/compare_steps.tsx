// The steps of the compared runs: over each other by iteration, and how they spread over the windows.
import { useMemo } from "preact/hooks";
import { fetchSteps } from "../api/client";
import type { ComparedRun, RunGroup } from "../api/types";
import { DistributionPlot } from "../chart/distribution_plot";
import { distributionOf } from "../chart/distributions";
import { OverlayChart, type OverlaidRun } from "../chart/overlay_chart";
import { kPanZoomHint } from "../chart/pan_zoom";
import { formatPlural } from "../format";
import { Pending } from "../parts/pending";
import { useAnswer } from "../state/answer";
import { queryValue } from "../state/page_query";
import { nameOfGroup } from "../state/sides";
import { parseWindow } from "../state/window";

interface Props {
  runs: ComparedRun[];
  groups: RunGroup[];
  telling: ReadonlyMap<number, string>; // by their ids, what tells runs of one job number apart
}

export function ComparedSteps({ runs, groups, telling }: Props) {
  const shown = runs.filter((run) => run.step_time_s_mean !== null);
  const ids = shown.map(({ id }) => id);
  const answer = useAnswer(
    `overlay ${ids.join()}`,
    (abort) => Promise.all(ids.map((id) => fetchSteps(id, abort))),
    (run) => ids.includes(run),
  );
  const steps = answer.value.value;
  const overlaid = useMemo(
    () =>
      (steps ?? []).flatMap((each) => {
        const run = shown.find(({ id }) => id === each.run_id);
        return run ? [{ id: run.id, name: runName(run, groups, telling), steps: each }] : [];
      }),
    [steps, groups, telling],
  );
  if (ids.length === 0) return null;
  return (
    <>
      <section class="charts" aria-labelledby="overlay-title">
        <div class="section-head">
          <h2 id="overlay-title">Step by step</h2>
        </div>
        <Pending answer={answer} what="the steps" />
        {overlaid.length > 0 && <OverlayChart runs={overlaid} />}
      </section>
      {overlaid.length > 0 && <Spread overlaid={overlaid} runs={shown} />}
    </>
  );
}

function runName(
  run: ComparedRun,
  groups: RunGroup[],
  telling: ReadonlyMap<number, string>,
): string {
  const group = run.group === null ? "left out" : nameOfGroup(run.group, groups);
  if (run.job_id === null) return `${group}: run ${run.id}`;
  return [`${group}: job ${run.job_id}`, telling.get(run.id)].filter(Boolean).join(", ");
}

interface SpreadProps {
  overlaid: OverlaidRun[];
  runs: ComparedRun[];
}

// In the colours of the lines above: a run without a step in its window keeps its row, which is empty.
function Spread({ overlaid, runs }: SpreadProps) {
  const without = queryValue("without");
  const distributions = useMemo(
    () =>
      overlaid.map((run) => {
        const window = runs.find(({ id }) => id === run.id)?.window ?? "";
        return distributionOf(run, parseWindow(window), without);
      }),
    [overlaid, runs.map(({ window }) => window).join(), without],
  );
  if (distributions.every(({ values }) => values.length === 0)) return null;
  return (
    <section class="charts" aria-labelledby="spread-title">
      <div class="section-head">
        <h2 id="spread-title">How the steps spread</h2>
      </div>
      <DistributionPlot
        distributions={distributions}
        summary={
          `Step times over the windows of ${formatPlural(distributions.length, "run")}, ` +
          "on one axis. The table below has their quartiles."
        }
      />
      <p class="legend">
        <span>
          A dot is a step of the window; the box holds the middle half of them, the line in it is
          the median.
          {without && " Steps that the figures above leave out are left out here, too."}
        </span>
        <span class="no-print">{kPanZoomHint}.</span>
      </p>
    </section>
  );
}
