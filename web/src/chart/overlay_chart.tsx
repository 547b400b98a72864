// The step times of several runs over each other, by iteration: one line a run, told apart by colour
// and dash. The runs' own pages have every figure as a table.
import uPlot from "uplot";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Column, Steps } from "../api/types";
import { formatCount, formatSeconds, formatTicks } from "../format";
import { PlotCopies } from "../parts/plot_copies";
import { measuredRunHref } from "../state/measuring";
import { followPage } from "./follow_page";
import {
  followMoves,
  iterationRange,
  kDragWithoutShift,
  kPanZoomHint,
  zoomedPart,
} from "./pan_zoom";
import { steadyRange, type Range } from "./scale";
import { seriesColour } from "./series";
import { kIterationSteps } from "./step_plot";

const kHeight = 300;
const kDashes: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export interface OverlaidRun {
  id: number;
  name: string;
  steps: Steps;
}

interface Overlay {
  iterations: number[];
  columns: Column[];
}

// A restarted iteration counts in its last pass.
export function overlayOf(runs: readonly OverlaidRun[]): Overlay {
  const iterations = [...new Set(runs.flatMap(({ steps }) => steps.iteration))].sort(
    (a, b) => a - b,
  );
  const at = new Map(iterations.map((iteration, index) => [iteration, index]));
  const columns = runs.map(({ steps }) => {
    const column: Column = new Array<number | null>(iterations.length).fill(null);
    steps.iteration.forEach((iteration, row) => {
      const index = at.get(iteration);
      if (index !== undefined) column[index] = steps.step_time_s[row] ?? null;
    });
    return column;
  });
  return { iterations, columns };
}

const dashOf = (at: number) => kDashes[at % kDashes.length] ?? [];

function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function create(host: HTMLElement, overlay: Overlay, onCursor: (at: number | null) => void) {
  const ranges = overlay.columns.flatMap((column) => steadyRange(column, []) ?? []);
  const low = Math.min(...ranges.map(({ min }) => min));
  const high = Math.max(...ranges.map(({ max }) => max));
  const axis = {
    stroke: cssColor("--text-muted"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: cssColor("--chart-grid"), width: 1 },
    ticks: { show: false },
    values: (_: uPlot, ticks: number[]) => formatTicks(ticks),
  };
  const options: uPlot.Options = {
    width: Math.max(host.clientWidth, 200),
    height: kHeight,
    padding: [14, 12, 0, 0],
    legend: { show: false },
    cursor: { points: { size: 7 }, drag: { x: true, y: false }, bind: kDragWithoutShift },
    scales: {
      x: { time: false, range: iterationRange },
      y: { range: () => (ranges.length > 0 ? [low, high] : [0, 1]) },
    },
    axes: [
      { ...axis, size: 30, incrs: kIterationSteps },
      { ...axis, size: 62 },
    ],
    series: [
      {},
      ...overlay.columns.map((_, at) => ({
        stroke: cssColor(seriesColour(at)),
        width: 1.75,
        dash: dashOf(at),
        points: { show: false },
      })),
    ],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)] },
  };
  return new uPlot(options, [overlay.iterations, ...overlay.columns] as uPlot.AlignedData, host);
}

// Other runs may have ended before what was zoomed to.
function holdsSome({ iterations }: Overlay, { min, max }: Range): boolean {
  return iterations.some((iteration) => iteration >= min && iteration <= max);
}

export function OverlayChart({ runs }: { runs: OverlaidRun[] }) {
  const host = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const overlay = useMemo(() => overlayOf(runs), [runs]);
  const zoom = useRef<Range | null>(null); // outlives the plot, which every answer makes anew
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const make = () => {
      const made = create(element, overlay, setCursor);
      if (zoom.current && holdsSome(overlay, zoom.current)) made.setScale("x", zoom.current);
      return made;
    };
    const drop = (old: uPlot) => {
      zoom.current = zoomedPart(old);
      old.destroy();
    };
    let plot = make();
    const unfollow = followPage(element, {
      height: kHeight,
      size: () => plot,
      setSize: (size) => plot.setSize(size),
      recolor: () => {
        drop(plot);
        plot = make();
      },
    });
    const endMoves = followMoves(
      element,
      () => plot,
      () => [plot],
    );
    return () => {
      unfollow();
      endMoves();
      drop(plot);
    };
  }, [overlay]);
  return (
    <figure class="chart">
      <figcaption class="chart-head">
        <h3>
          Step time <span class="unit">s, by iteration</span>
        </h3>
        <p class="readout" aria-hidden="true">
          {cursor !== null && `iteration ${formatCount(overlay.iterations[cursor])}`}
        </p>
      </figcaption>
      <div
        class="plot plot-overlay"
        ref={host}
        tabIndex={0}
        role="img"
        aria-label={`Step times of ${runs.length} runs over each other, by iteration.`}
      />
      <ul class="segment-key">
        {runs.map(({ id, name }, at) => (
          <li key={id}>
            <svg width="28" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="28"
                y1="4"
                y2="4"
                stroke={`var(${seriesColour(at)})`}
                stroke-width="2"
                stroke-dasharray={dashOf(at).join(" ") || "none"}
              />
            </svg>
            <a href={measuredRunHref(id)}>{name}</a>
            {cursor !== null && <b> {formatSeconds(overlay.columns[at]?.[cursor])}</b>}
          </li>
        ))}
      </ul>
      <p class="legend no-print">{kPanZoomHint}.</p>
      <PlotCopies
        of="step times"
        name="step-times"
        table={() => ({
          heads: ["iteration", ...runs.map(({ id, name }) => `run ${id}: ${name}, s`)],
          rows: overlay.iterations.map((iteration, at) => [
            String(iteration),
            ...overlay.columns.map((values) => String(values[at] ?? "")),
          ]),
        })}
        pictures={() => host.current?.querySelectorAll("canvas") ?? []}
      />
    </figure>
  );
}
