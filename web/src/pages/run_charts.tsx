// The steps of a run as charts, what stands out in them said in words, and their table.
import { useMemo } from "preact/hooks";
import type {
  RunCheckpoints,
  RunDetails,
  RunInsight,
  RunStatistics,
  StepMetric,
  Steps,
  WindowStatistics,
} from "../api/types";
import { isOffScale } from "../chart/scale";
import { allValues, chartSeries, hasValues, type ChartSeries } from "../chart/series";
import { kPanZoomHint } from "../chart/pan_zoom";
import { kNanWords, nanRows, nanSentences, type NanMetric, type NanRows } from "../chart/nan_steps";
import { StepChart } from "../chart/step_chart";
import { interruptionSentences, marksOf } from "../chart/step_marks";
import { plotRange, type ChartMark } from "../chart/step_plot";
import {
  formatMeanDeviation,
  formatNumber,
  formatPlural,
  formatScientific,
  formatSeconds,
} from "../format";
import { insightSentences } from "../insight_words";
import { Sentences } from "../parts/sentences";
import { lookAtLog } from "../state/log_place";
import { queryValue, setQuery } from "../state/page_query";
import { parseWindow, type IterationWindow } from "../state/window";
import { StepTable } from "./step_table";

interface Props {
  run: RunDetails;
  steps: Steps;
  statistics: RunStatistics | null;
  insight: RunInsight | null;
  checkpoints: RunCheckpoints | null;
}

const kGibibyte = 2 ** 30;

interface Lesser {
  metric: StepMetric;
  title: string;
  unit: string;
  scale: number; // what one of the chart's units is worth
  format: (value: number | null) => string;
}

const kLesser: Lesser[] = [
  {
    metric: "loss",
    title: "Loss",
    unit: "",
    scale: 1,
    format: formatScientific,
  },
  {
    metric: "grad_norm",
    title: "Gradient norm",
    unit: "",
    scale: 1,
    format: formatScientific,
  },
  {
    metric: "memory_bytes_max",
    title: "Memory, highest",
    unit: "GiB",
    scale: kGibibyte,
    format: (value) => (value === null ? formatNumber(value) : `${formatNumber(value)} GiB`),
  },
  {
    metric: "learning_rate",
    title: "Learning rate",
    unit: "",
    scale: 1,
    format: formatScientific,
  },
];

export function RunCharts({ run, steps, statistics, insight, checkpoints }: Props) {
  const showsAll = queryValue("scale") === "all";
  const segment = statistics?.segment ?? run.segment;
  const windowText = statistics?.window ?? run.window;
  const window = useMemo(() => parseWindow(windowText), [windowText]);
  const time = useMemo(() => chartSeries(steps, "step_time_s", segment), [steps, segment]);
  const flops = useMemo(() => chartSeries(steps, "tflops_per_gpu", segment), [steps, segment]);
  const lesser = useMemo(
    () =>
      kLesser.map((kind) => ({
        kind,
        series: chartSeries(steps, kind.metric, segment, kind.scale),
      })),
    [steps, segment],
  );
  const marks = useMemo(
    () => marksOf(insight, checkpoints, steps, time),
    [insight, checkpoints, steps, time],
  );
  const nan = useMemo(() => nanRows(steps, run.segments), [steps, run.segments]);
  const nanMarks = useMemo(
    () => ({
      loss: nanMarksOf(steps, nan, "loss"),
      grad_norm: nanMarksOf(steps, nan, "grad_norm"),
    }),
    [steps, nan],
  );
  if (steps.iteration.length === 0) {
    return (
      <p class="nothing">
        {run.status === "running"
          ? "The log holds no step yet. Its first one appears here by itself."
          : "The log holds no step."}
      </p>
    );
  }
  const steady = plotRange({
    series: time,
    window,
    mean: null,
    colorName: "",
    marks: [],
    showsAll: false,
  });
  const hidden = allValues(time).filter((value) => isOffScale(value, steady)).length;
  const onStep = (iteration: number) => {
    const offset = stepOffset(steps, segment, iteration);
    if (offset !== null) lookAtLog(offset);
  };
  const common = { window, onStep };
  return (
    <section class="charts" aria-labelledby="charts-title">
      <div class="section-head">
        <h2 id="charts-title">Steps</h2>
        {(hidden > 0 || showsAll) && (
          <label class="switch">
            <input
              type="checkbox"
              checked={showsAll}
              onChange={() => setQuery("scale", showsAll ? "" : "all")}
            />
            show warm-up and outliers
          </label>
        )}
      </div>
      {insight && (
        <Sentences
          sentences={[
            ...insightSentences(insight),
            ...interruptionSentences(steps, segment, insight.steady_step_time_s),
          ]}
          look="insight"
        />
      )}
      <Sentences sentences={nanSentences(steps, run.segments, nan)} />
      <StepChart
        {...common}
        showsAll={showsAll}
        title="Step time"
        unit="s"
        series={time}
        mean={statistics?.step_time_s?.mean ?? null}
        colorName="--chart-time"
        marks={marks}
        formatValue={formatSeconds}
        summary={summarize("Step time in seconds", steps, window, statistics?.step_time_s)}
      />
      {hasValues(flops) && (
        <StepChart
          {...common}
          showsAll={showsAll}
          title="TFLOPS per GPU"
          unit="as logged"
          series={flops}
          mean={statistics?.tflops_per_gpu?.mean ?? null}
          colorName="--chart-flops"
          formatValue={formatNumber}
          summary={summarize("TFLOPS per GPU", steps, window, statistics?.tflops_per_gpu)}
        />
      )}
      <div class="lesser-charts">
        {lesser
          .filter(({ series }) => hasValues(series))
          .map(({ kind, series }) => (
            <LesserChart
              key={kind.metric}
              kind={kind}
              series={series}
              steps={steps}
              marks={
                kind.metric === "loss" || kind.metric === "grad_norm"
                  ? nanMarks[kind.metric]
                  : kNoMarks
              }
              {...common}
            />
          ))}
      </div>
      <Legend
        windowText={windowText}
        marks={[...marks, ...nanMarks.loss, ...nanMarks.grad_norm]}
      />
      <StepTable steps={steps} window={window} segment={segment} nan={nan} />
    </section>
  );
}

const kNoMarks: readonly ChartMark[] = [];

function nanMarksOf(steps: Steps, nan: NanRows, metric: NanMetric): ChartMark[] {
  const words = kNanWords[metric];
  return [...nan[metric]].flatMap((row): ChartMark[] => {
    const iteration = steps.iteration[row];
    return iteration === undefined ? [] : [{ iteration, kind: "nan", words }];
  });
}

// Where the log has the step: of the segment that counts, where it has it.
function stepOffset(steps: Steps, segment: number, iteration: number): number | null {
  let found: number | null = null;
  for (const [row, each] of steps.iteration.entries()) {
    if (each !== iteration) continue;
    if (found === null || steps.segment[row] === segment) found = steps.byte_offset?.[row] ?? null;
  }
  return found;
}

interface LesserProps {
  kind: Lesser;
  series: ChartSeries;
  steps: Steps;
  window: IterationWindow | null;
  marks: readonly ChartMark[];
  onStep: (iteration: number) => void;
}

// Every value is on the scale: where these metrics come from matters as much as where they are.
function LesserChart({ kind, series, steps, window, marks, onStep }: LesserProps) {
  return (
    <StepChart
      title={kind.title}
      unit={kind.unit}
      series={series}
      window={window}
      mean={null}
      showsAll
      colorName="--chart-lesser"
      marks={marks}
      height={160}
      onStep={onStep}
      formatValue={kind.format}
      summary={summarize(kind.title, steps, null, null) + nanSummary(marks)}
    />
  );
}

const kMarkWords: Record<ChartMark["kind"], string> = {
  warm_up: "warm-up",
  outlier: "outlier",
  periodic: "periodically slow",
  checkpoint: "checkpoint",
  evaluation: "evaluation",
  nan: "NaN or infinite",
};

const nanSummary = (marks: readonly ChartMark[]) =>
  marks[0] ? ` In ${formatPlural(marks.length, "step")} it is ${marks[0].words}.` : "";

function Legend({ windowText, marks }: { windowText: string; marks: readonly ChartMark[] }) {
  const kinds = [...new Set(marks.map(({ kind }) => kind))];
  return (
    <p class="legend">
      <span>
        <i class="swatch-band" aria-hidden="true" /> window {windowText}
      </span>
      <span>
        <i class="swatch-mean" aria-hidden="true" /> its mean
      </span>
      {kinds.map((kind) => (
        <span key={kind}>
          <i class={`swatch-${kind}`} aria-hidden="true" /> {kMarkWords[kind]}
        </span>
      ))}
      <span class="no-print">
        {kPanZoomHint}, click a step for its line of the log.
      </span>
    </p>
  );
}

function summarize(
  what: string,
  steps: Steps,
  window: IterationWindow | null,
  statistics: WindowStatistics | null | undefined,
): string {
  const count = formatPlural(steps.iteration.length, "step");
  if (!window || !statistics) return `${what} of ${count}. The table below lists them.`;
  const mean = formatMeanDeviation(statistics.mean, statistics.stddev_sample);
  return (
    `${what} of ${count}; mean ${mean} over iterations ${window.first} to ${window.last}. ` +
    "The table below lists them."
  );
}
