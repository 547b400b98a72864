// "/scaling": tokens/s/GPU and efficiency by number of GPUs, one series for each workload, model
// size, dtype and GPU type, measured and published.
import { useRef, useState } from "preact/hooks";
import { fetchScaling } from "../api/client";
import type { Scaling, ScalingPoint, ScalingSeries } from "../api/types";
import { kPanZoomHint } from "../chart/pan_zoom";
import { useZoom } from "../chart/plot_zoom";
import { ScalingPlot } from "../chart/scaling_plot";
import {
  efficiencyBases,
  efficiencyPlot,
  sharedAxis,
  throughputPlot,
} from "../chart/scaling_points";
import {
  scalingHeads,
  scalingRows,
  scalingTable,
  tokensPerS,
  type ScalingRow,
} from "../chart/scaling_table";
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatPlural,
  formatSpeed,
  formatWorkload,
  kUnknown,
} from "../format";
import { kNoCluster } from "../cluster_words";
import { differencesText } from "../series_words";
import { includableMarks } from "../mark_words";
import { LeftOutRuns } from "../parts/left_out";
import { MeasuredOver } from "../parts/measured_over";
import { OlderRuns } from "../parts/older_runs";
import { HintPanel, kAllRuns } from "../parts/panels";
import { Answered, Pending } from "../parts/pending";
import { PlotCopies } from "../parts/plot_copies";
import { ClusterChoice } from "../parts/cluster_choice";
import { UnknownKeys } from "../parts/unknown_keys";
import { UnknownCluster, UnknownValue } from "../parts/unknown_value";
import { WorkloadChoice } from "../parts/workload_choice";
import { useAnswer } from "../state/answer";
import { isUnknownCluster, learnClusters } from "../state/clusters";
import { kMeasuringKeys, measuredRunHref } from "../state/measuring";
import { apiParameters, queryValue, setQuery } from "../state/page_query";
import { usePageTitle } from "../state/page_title";

// Of a point, and of what is left out of it for one reason.
const kRunsAsked = 20;

const countOf = (groups: Scaling["unplaced_groups"]) =>
  groups.reduce((sum, { run_count }) => sum + run_count, 0);

export function ScalingPage() {
  const query = apiParameters(["cluster", ...kMeasuringKeys]);
  query.set("runs_max", String(kRunsAsked));
  usePageTitle("Scaling");
  const answer = useAnswer(
    query.toString(),
    async (abort) => {
      const scaling = await fetchScaling(query, abort);
      learnClusters(scaling.series);
      return scaling;
    },
    () => true,
  );
  const scaling = answer.value.value;
  return (
    <>
      <div class="page-head">
        <h1>Scaling</h1>
        <p class="count">what each GPU does as there are more of them, beside what is published</p>
      </div>
      <UnknownKeys />
      <div class="filters">
        <WorkloadChoice
          chosen={queryValue("workload")}
          workloads={(scaling?.series ?? []).map((series) => series.workload)}
          onChoose={(chosen) => setQuery("workload", chosen)}
        />
        <ClusterChoice />
        <MeasuredOver label="window for all" />
      </div>
      <Pending answer={answer} what="the series" elsewhere={kAllRuns} />
      {scaling && (
        <Answered isOld={answer.isOld}>
          <AllSeries scaling={scaling} />
        </Answered>
      )}
    </>
  );
}

// "grok1 314b bf16 gb200", or "… of alpha" where there are several clusters.
function seriesName(series: ScalingSeries, withCluster: boolean): string {
  const { workload, model_size, dtype, gpu_type, cluster } = series;
  const name = [formatWorkload(workload), model_size, dtype, gpu_type].join(" ");
  if (!withCluster) return name;
  return cluster === null ? `${name}, ${kNoCluster}` : `${name} of ${cluster}`;
}

// Unlike that of every other series: with what its runs differ in from those of the same model.
function labelOf(name: string, { differences }: ScalingSeries): string {
  return differences.length > 0 ? `${name}, ${differencesText(differences)}` : name;
}

const hasRate = (run: ScalingSeries["left_out"][number]) =>
  run.tokens_per_s_per_gpu !== null && run.copy_of === null;

function AllSeries({ scaling }: { scaling: Scaling }) {
  const workload = queryValue("workload");
  const shown = scaling.series.filter(
    (series) => !workload || formatWorkload(series.workload) === formatWorkload(workload),
  );
  const clusters = [...new Set(scaling.series.map(({ cluster }) => cluster))];
  const measured = shown.filter((series) => series.points.length > 0);
  const empty = shown.filter((series) => series.points.length === 0);
  const notCounted = empty.flatMap((series) => series.left_out);
  return (
    <>
      {measured.length === 0 && <NoSeries isUnknown={shown.length === 0 && scaling.series.length > 0} />}
      {measured.map((series) => (
        <Series
          key={labelOf(seriesName(series, true), series)}
          name={seriesName(series, clusters.length > 1)}
          series={series}
        />
      ))}
      <LeftOutRuns
        offered={includableMarks(notCounted, hasRate)}
        runs={[...notCounted, ...scaling.unplaced]}
        count={countOf([
          ...empty.flatMap((series) => series.left_out_groups),
          ...scaling.unplaced_groups,
        ])}
      />
      <OlderRuns count={scaling.older_runs_left_out} />
      <p class="window-note">{scaling.method}</p>
    </>
  );
}

// `isUnknown`: there are series, and none is of the workload that is asked for.
function NoSeries({ isUnknown }: { isUnknown: boolean }) {
  if (isUnknownCluster(queryValue("cluster"))) return <UnknownCluster />;
  if (isUnknown) {
    return (
      <UnknownValue
        name="workload"
        nothing="No series is of the workload"
        every="Show every workload"
      />
    );
  }
  return (
    <HintPanel title="No series yet">
      <p>
        A point needs a complete run that says its workload, model size, dtype, GPU type and number
        of GPUs, and its global batch size.
      </p>
    </HintPanel>
  );
}

const kKinds: Record<string, string> = {
  weak: "weak scaling: the global batch grows with the GPUs",
  strong: "strong scaling: the global batch stays the same",
  mixed: "weak and strong scaling mixed",
  unknown: "a global batch size is not known",
  baseline: "one scale only",
};

function Series({ name, series }: { name: string; series: ScalingSeries }) {
  const section = useRef<HTMLElement>(null);
  const label = labelOf(name, series);
  const throughput = throughputPlot(series);
  const efficiency = efficiencyPlot(series);
  const [pointed, setPointed] = useState<number | null>(null);
  const axis = sharedAxis([throughput, efficiency]);
  const linked = { axis, zoom: useZoom(), pointed, onPoint: setPointed };
  return (
    <section class="charts" aria-label={label} ref={section}>
      <div class="section-head">
        <h2>{name}</h2>
        <span class="count">{kKinds[series.scaling] ?? series.scaling}</span>
      </div>
      {series.differences.length > 0 && (
        <p class="window-note">Of these runs alone: {differencesText(series.differences)}.</p>
      )}
      <div class="plot-pair">
        <ScalingPlot
          {...linked}
          title="Tokens/s/GPU"
          plot={throughput}
          format={formatNumber}
          colour="time"
          summary={`Tokens/s/GPU of ${name} by number of GPUs; the table below lists them.`}
        />
        <ScalingPlot
          {...linked}
          title="Efficiency"
          plot={efficiency}
          format={formatPercent}
          formatTicks={(ticks) => ticks.map((tick) => formatPercent(tick, 0))}
          colour="flops"
          summary={`Efficiency of ${name} by number of GPUs; the table below lists it.`}
        />
      </div>
      <p class="legend">
        <span>● measured, with the 95 % interval over runs</span>
        {series.published.length > 0 && <span>□ published in {series.document}</span>}
        <span>┄ as at the smallest scale</span>
        {axis.length > 1 && <span class="no-print">{kPanZoomHint}.</span>}
      </p>
      <p class="window-note">{basesText(series)}</p>
      <Table label={label} series={series} />
      <PlotCopies
        of={label}
        name={`scaling-${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`}
        table={() => scalingTable(series)}
        pictures={() => section.current?.querySelectorAll<SVGSVGElement>(".scaling-plot svg") ?? []}
      />
      <LeftOutRuns
        runs={series.left_out}
        count={countOf(series.left_out_groups)}
        offered={includableMarks(series.left_out, hasRate)}
      />
    </section>
  );
}

// "Efficiency is against 128 GPUs, measured and published."
function basesText(series: ScalingSeries): string {
  const { measured, published } = efficiencyBases(series);
  const gpus = (count: number) => formatPlural(count, "GPU");
  if (measured === null) return "";
  if (published === null) return `Efficiency is against ${gpus(measured)}, the smallest measured.`;
  if (measured === published) {
    return `Efficiency is against ${gpus(measured)}, measured and published.`;
  }
  return (
    `Measured efficiency is against ${gpus(measured)}, published efficiency against ` +
    `${gpus(published)}: the two do not compare.`
  );
}

function Table({ label, series }: { label: string; series: ScalingSeries }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table of ${label}`}>
      <table class="plain scaling-table">
        <thead>
          <tr>
            {scalingHeads(series).map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {scalingRows(series).map((row, at) => (
            <Row key={at} {...row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ gpus, point, published }: ScalingRow) {
  return (
    <tr>
      <th scope="row" class="number">
        {formatCount(gpus)}
      </th>
      <td class="number">
        {formatCount(point ? point.global_batch_size : published?.global_batch_size)}
      </td>
      <td class="number">{point ? <RunLinks point={point} /> : "none yet"}</td>
      <td class="number">{formatNumber(point?.tokens_per_s_per_gpu.mean)}</td>
      <td class="number">{point ? intervalText(point) : kUnknown}</td>
      <td class="number">{formatCount(point && tokensPerS(point))}</td>
      <td class="number" title={point?.efficiency_reason ?? ""}>
        {formatPercent(point?.efficiency)}
      </td>
      <td class="number">{formatNumber(published?.tokens_per_s_per_gpu)}</td>
      <td class="number">{formatPercent(published?.efficiency)}</td>
      <td class="number">{formatSpeed(point?.speed_against_reference?.mean)}</td>
    </tr>
  );
}

function intervalText({ tokens_per_s_per_gpu: estimate }: ScalingPoint): string {
  if (estimate.low === null || estimate.high === null) return "one run";
  return `${formatNumber(estimate.low)} to ${formatNumber(estimate.high)}`;
}

const kRunsNamed = 6;

function RunLinks({ point }: { point: ScalingPoint }) {
  const named = point.runs.slice(-kRunsNamed);
  const { run_count } = point.tokens_per_s_per_gpu;
  return (
    <span title={formatPlural(run_count, "run")}>
      {named.map((run, at) => (
        <span key={run.id}>
          {at > 0 && ", "}
          <a href={measuredRunHref(run.id)} title={run.experiment}>
            {run.id}
          </a>
        </span>
      ))}
      {run_count > named.length && ` and ${formatCount(run_count - named.length)} more`}
    </span>
  );
}
