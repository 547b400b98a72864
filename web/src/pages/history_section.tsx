// One configuration's history: its step times as a plot, each change in words, and the runs as a
// table.
import { useRef, useState } from "preact/hooks";
import type { HistorySeries } from "../api/types";
import { HistoryPlot } from "../chart/history_plot";
import { kPanZoomHint } from "../chart/pan_zoom";
import { formatCount, formatNumber, formatPlural, kUnknown } from "../format";
import {
  amountWords,
  driftRowWords,
  meanAmountWords,
  newestWords,
  seriesName,
  toldChange,
  toldDrift,
  toldMeanChange,
  type Told,
} from "../history_words";
import { LeftOutList } from "../parts/left_out";
import { PlotCopies } from "../parts/plot_copies";
import { Table } from "../parts/table";
import { Instant } from "../parts/values";
import { sidesHref } from "../state/history";
import { kMeasuringKeys, measuredRunHref } from "../state/measuring";
import { apiParameters } from "../state/page_query";
import { zone } from "../state/zone";

// What keeps series apart, fit for an address.
export function sectionId(series: HistorySeries): string {
  const parts = [seriesName(series), series.global_batch_size ?? "", series.window];
  return parts
    .join(" ")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
}

// `name` tells it apart from the page's others.
export function HistorySection({ series, name }: { series: HistorySeries; name: string }) {
  const section = useRef<HTMLElement>(null);
  const runs = formatPlural(series.runs.length, "run");
  const changes = formatPlural(series.changes.length, "change");
  return (
    <section class="charts history" id={sectionId(series)} aria-label={name} ref={section}>
      <div class="section-head">
        <h2>{name}</h2>
        <span class="count">
          {series.global_batch_size !== null &&
            `global batch ${formatCount(series.global_batch_size)}, `}
          window {series.window}
        </span>
      </div>
      <HistoryPlot
        series={series}
        zone={zone.value}
        summary={
          `Median step times of ${runs} of ${name}, with ${changes} of their level` +
          `${series.drift ? " and a drift" : ""}. ` +
          "The table below lists them."
        }
      />
      <p class="legend">
        <span>● median step time of a run</span>
        {(series.changes.length > 0 || series.drift) && <span>━ level</span>}
        {series.changes.length > 0 && <span>▲ slower from here on, ▼ faster</span>}
        <span class="no-print">{kPanZoomHint}.</span>
      </p>
      {series.changes.length > 0 && <ChangeList series={series} />}
      <Unmarked series={series} />
      <p class="window-note">{newestWords(series)}</p>
      <Runs series={series} name={name} />
      <Copies series={series} />
      <LeftOutList runs={series.left_out} />
      <PlotCopies
        of={name}
        name={`history-${sectionId(series)}`}
        table={() => exported(series)}
        pictures={() => section.current?.querySelectorAll<SVGSVGElement>(".history-plot svg") ?? []}
      />
    </section>
  );
}

function Finding({ told, note = "" }: { told: Told; note?: string }) {
  return (
    <>
      <b class={`told told-${told.verdict}`}>{told.amount}</b>
      {told.levels}
      {told.runId !== null && (
        <>
          , from <a href={measuredRunHref(told.runId)}>run {told.runId}</a> on (
          <Instant at={told.startedAt} />)
        </>
      )}
      . {note}
      {told.cause}
    </>
  );
}

function ChangeList({ series }: { series: HistorySeries }) {
  return (
    <ol class="findings changes">
      {series.changes.map((change, at) => (
        <li key={change.run_id}>
          <Finding told={toldChange(series, change)} />{" "}
          <a href={sidesHref(series, at, apiParameters(kMeasuringKeys))}>
            Compare the runs on either side
          </a>
        </li>
      ))}
    </ol>
  );
}

// What has no mark in the plot: a drift is a line there, and means are not drawn.
function Unmarked({ series }: { series: HistorySeries }) {
  const { drift, mean_changes: means } = series;
  if (!drift && means.length === 0) return null;
  return (
    <ul class="findings unmarked">
      {drift && (
        <li>
          <Finding told={toldDrift(series, drift)} />
        </li>
      )}
      {means.map((change) => (
        <li key={change.run_id}>
          <Finding
            told={toldMeanChange(series, change)}
            note="Slow steps move the mean, and not the median. "
          />
        </li>
      ))}
    </ul>
  );
}

const kHeads = ["started", "run", "#job", "#step time, median, s", "#mean, s", "level"];

function levelText(series: HistorySeries, at: number): string {
  const { changes, mean_changes, drift } = series;
  const change = changes.find((one) => one.at === at);
  const means = mean_changes.find((one) => one.at === at);
  return [
    change && `${amountWords(change)} from here on`,
    drift?.at === at && driftRowWords(drift),
    means && `${meanAmountWords(means)} from here on`,
  ]
    .filter(Boolean)
    .join("; ");
}

function Runs({ series, name }: { series: HistorySeries; name: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="twin" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Table of {formatPlural(series.runs.length, "run")}</summary>
      {isOpen && (
        <Table
          name={`runs of ${name}`}
          heads={kHeads}
          isTall
          rows={series.runs.map((run, at) => [
            <Instant at={run.launched_at} />,
            <a href={measuredRunHref(run.id)} title={run.experiment}>
              run {run.id}
            </a>,
            run.job_id ?? kUnknown,
            formatNumber(run.step_time_s_median),
            formatNumber(run.step_time_s_mean),
            levelText(series, at),
          ])}
        />
      )}
    </details>
  );
}

const kCopiesNamed = 20;

function Copies({ series: { copies } }: { series: HistorySeries }) {
  if (copies.length === 0) return null;
  const named = copies.slice(0, kCopiesNamed);
  return (
    <p class="window-note">
      Logs with the same bytes are one run, and are left out here:{" "}
      {named.map(({ id, copy_of }, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <a href={measuredRunHref(id)}>run {id}</a>, a copy of <a href={measuredRunHref(copy_of)}>run {copy_of}</a>
        </span>
      ))}
      {copies.length > named.length && ` and ${formatCount(copies.length - named.length)} more`}.
    </p>
  );
}

// Neither rounded nor grouped: for other programs.
function exported(series: HistorySeries) {
  return {
    heads: kHeads.map((head) => head.replace(/^#/, "")),
    rows: series.runs.map((run, at) => [
      run.launched_at ?? "",
      String(run.id),
      run.job_id === null ? "" : String(run.job_id),
      String(run.step_time_s_median ?? ""),
      String(run.step_time_s_mean ?? ""),
      levelText(series, at),
    ]),
  };
}
