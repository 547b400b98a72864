// A titled chart of one metric with what is needed to read it: value under the cursor, key to
// the segments, what lies off the scale. The table beside it says the same in text.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, formatPlural } from "../format";
import { PlotCopies } from "../parts/plot_copies";
import type { IterationWindow } from "../state/window";
import { offScaleWords } from "./scale";
import { allValues, hasValues, type ChartSeries } from "./series";
import { plotRange, StepPlot, type ChartMark, type PlotInput } from "./step_plot";

interface Props {
  title: string;
  unit: string;
  series: ChartSeries;
  window: IterationWindow | null;
  mean: number | null;
  showsAll: boolean;
  colorName: string;
  marks?: readonly ChartMark[];
  height?: number;
  formatValue: (value: number | null) => string;
  onStep?: (iteration: number) => void; // a step was clicked
  summary: string; // what a reader who cannot see the chart is told
}

const kNoMarks: readonly ChartMark[] = [];

export function StepChart(props: Props) {
  const { title, unit, series, window, mean, showsAll, colorName, marks = kNoMarks } = props;
  const { height } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<StepPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [cursor, setCursor] = useState<number | null>(null);
  const input = useMemo<PlotInput>(
    () => ({ series, window, mean, showsAll, colorName, marks, ...(height ? { height } : {}) }),
    [series, window, mean, showsAll, colorName, marks, height],
  );

  useEffect(() => {
    if (!host.current) return;
    plot.current = new StepPlot(host.current, input, setCursor, (at) => {
      const { series: shown, onStep } = latest.current;
      const iteration = at === null ? undefined : shown.iterations[at];
      if (iteration !== undefined) onStep?.(iteration);
    });
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.update(input), [input]);

  const offScale = offScaleWords(allValues(series), plotRange(input));
  return (
    <figure class="chart">
      <figcaption class="chart-head">
        <h3>
          {title} <span class="unit">{unit}</span>
        </h3>
        <p class="readout" aria-hidden="true">
          {cursor === null ? offScale : <Readout {...props} at={cursor} />}
        </p>
      </figcaption>
      <div
        class={height ? "plot plot-low" : "plot"}
        ref={host}
        tabIndex={0}
        role="img"
        aria-label={props.summary}
      />
      {!hasValues(series) && <p class="plot-empty">The log prints no such figure.</p>}
      <SegmentKey series={series} colorName={colorName} />
      {hasValues(series) && (
        <PlotCopies
          of={title}
          name={title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}
          table={() => seriesTable(series, unit ? `${title}, ${unit}` : title)}
          pictures={() => host.current?.querySelectorAll("canvas") ?? []}
        />
      )}
    </figure>
  );
}

function Readout({ series, formatValue, at, marks = kNoMarks }: Props & { at: number }) {
  const words = marks
    .filter(({ iteration }) => iteration === series.iterations[at])
    .map((mark) => mark.words);
  const values = series.segments
    .filter((segment) => segment.values[at] !== null && segment.values[at] !== undefined)
    .reverse();
  return (
    <>
      iteration {formatCount(series.iterations[at])}
      {values.map((segment) => (
        <span key={segment.segment}>
          {" · "}
          {series.segments.length > 1 && `segment ${segment.segment} `}
          <b>{formatValue(segment.values[at] ?? null)}</b>
        </span>
      ))}
      {words.length > 0 && ` · ${words.join(", ")}`}
    </>
  );
}

// As many columns as segments; what a segment lacks is empty.
function seriesTable(series: ChartSeries, title: string) {
  const segments = [...series.segments].sort((a, b) => a.segment - b.segment);
  const name = (segment: number) =>
    segments.length > 1 ? `${title}, segment ${segment}` : title;
  return {
    heads: ["iteration", ...segments.map(({ segment }) => name(segment))],
    rows: series.iterations.map((iteration, at) => [
      String(iteration),
      ...segments.map(({ values }) => (values[at] == null ? "" : String(values[at]))),
    ]),
  };
}

const kKeyMax = 6;

function SegmentKey({ series, colorName }: { series: ChartSeries; colorName: string }) {
  if (series.segments.length < 2) return null;
  const shown = [...series.segments].reverse().slice(0, kKeyMax);
  const hidden = series.segments.length - shown.length;
  return (
    <ul class="segment-key">
      {shown.map((segment) => (
        <li key={segment.segment}>
          <svg width="28" height="8" aria-hidden="true">
            <line
              x1="0"
              x2="28"
              y1="4"
              y2="4"
              stroke={segment.counts ? `var(${colorName})` : "var(--segment-other)"}
              stroke-width="2"
              stroke-dasharray={segment.counts ? "none" : "5 4"}
            />
          </svg>
          segment {segment.segment}
          {segment.counts && " (counts)"}
        </li>
      ))}
      {hidden > 0 && <li>and {formatPlural(hidden, "earlier segment")}</li>}
    </ul>
  );
}
