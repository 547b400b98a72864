// One uPlot canvas: a metric by iteration, the window as a shaded band, its mean as a dashed
// line, and a triangle at the edge for every step that lies beyond the scale.
import uPlot from "uplot";
import { formatTicks } from "../format";
import type { IterationWindow } from "../state/window";
import { followPage } from "./follow_page";
import { LoneClick } from "./lone_click";
import { followMoves, iterationRange, kDragWithoutShift, zoomedPart } from "./pan_zoom";
import { fullRange, isOffScale, steadyRange, type Range } from "./scale";
import { allValues, windowValues, type ChartSeries } from "./series";

export interface PlotInput {
  series: ChartSeries;
  window: IterationWindow | null;
  mean: number | null;
  showsAll: boolean; // warm-up and outliers on the scale
  colorName: string; // a custom property of the style sheet
  marks: readonly ChartMark[];
  height?: number; // of the canvas, px
}

// What is known of one iteration: drawn as a shape of its own, and said in words beside the chart.
export interface ChartMark {
  iteration: number;
  kind: "warm_up" | "outlier" | "periodic" | "checkpoint" | "evaluation" | "nan";
  words: string;
}

export type OnCursor = (iterationIndex: number | null) => void;

const kUsualHeight = 240;
const kGroup = "run"; // whose charts show the same steps
export const kIterationSteps = [1, 2, 5].flatMap((n) => [
  n,
  1e1 * n,
  1e2 * n,
  1e3 * n,
  1e4 * n,
  1e5 * n,
]);
kIterationSteps.sort((a, b) => a - b);
const kPointsMax = 150; // more steps than this are drawn as a line alone

function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function plotRange(input: PlotInput): Range | null {
  const values = allValues(input.series);
  return input.showsAll
    ? fullRange(values)
    : steadyRange(values, windowValues(input.series, input.window));
}

export class StepPlot {
  private plot: uPlot;
  private range: Range | null;
  private readonly unfollow: (() => void)[];
  private readonly clicks = new LoneClick(); // of steps

  constructor(
    private readonly host: HTMLElement,
    private input: PlotInput,
    private readonly onCursor: OnCursor,
    private readonly onClick: OnCursor,
  ) {
    let pressedAt = 0;
    host.addEventListener("mousedown", (event) => {
      pressedAt = event.clientX;
      this.clicks.press(event.detail);
    });
    // A drag zooms; only a press that stayed where it was asks for the step.
    host.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressedAt) < 4) this.click(event.detail);
    });

    this.range = plotRange(input);
    this.plot = this.create();
    const page = followPage(host, {
      height: this.height,
      size: () => this.plot,
      setSize: (size) => this.plot.setSize(size),
      recolor: () => this.recreate(zoomedPart(this.plot)),
    });
    const moves = followMoves(
      host,
      () => this.plot,
      () => uPlot.sync(kGroup).plots,
    );
    this.unfollow = [page, moves];
  }

  // `count`: of clicks in a row. The second of two shows everything again where a part is shown.
  private click(count: number): void {
    const at = this.plot.cursor.idx ?? null;
    this.clicks.click(count, zoomedPart(this.plot) !== null, () => this.onClick(at));
  }

  update(input: PlotInput): void {
    const isSameShape =
      input.series.segments.length === this.input.series.segments.length &&
      input.series.segments.every((segment, at) => {
        const before = this.input.series.segments[at];
        return before?.segment === segment.segment && before.counts === segment.counts;
      });
    const zoomed = zoomedPart(this.plot);
    this.input = input;
    this.range = plotRange(input);
    if (!isSameShape) {
      this.recreate(zoomed);
    } else if (zoomed) {
      this.plot.batch(() => {
        this.plot.setData(this.data(), false);
        this.plot.setScale("x", zoomed);
      });
    } else {
      this.plot.setData(this.data());
    }
  }

  // Colours are read from the style sheet once; a change of theme needs a new canvas.
  private recreate(zoomed: Range | null): void {
    this.plot.destroy();
    this.plot = this.create();
    if (zoomed) this.plot.setScale("x", zoomed);
  }

  destroy(): void {
    this.clicks.forget();
    for (const end of this.unfollow) end();
    this.plot.destroy();
  }

  private get height(): number {
    return this.input.height ?? kUsualHeight;
  }

  private data(): uPlot.AlignedData {
    const { iterations, segments } = this.input.series;
    return [iterations, ...segments.map((segment) => segment.values)] as uPlot.AlignedData;
  }

  private create(): uPlot {
    const { series, colorName } = this.input;
    const color = cssColor(colorName);
    const other = cssColor("--segment-other");
    const showsPoints = series.iterations.length <= kPointsMax;
    const axis = {
      stroke: cssColor("--text-muted"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: cssColor("--chart-grid"), width: 1 },
      ticks: { show: false },
    };
    const options: uPlot.Options = {
      width: Math.max(this.host.clientWidth, 200),
      height: this.height,
      padding: [14, 12, 0, 0],
      legend: { show: false },
      cursor: {
        sync: { key: kGroup },
        bind: kDragWithoutShift,
        points: { size: 8 },
        drag: { x: true, y: false },
      },
      scales: {
        x: { time: false, range: iterationRange },
        y: { range: () => (this.range ? [this.range.min, this.range.max] : [0, 1]) },
      },
      axes: [
        { ...axis, size: 30, incrs: kIterationSteps, values: (_, ticks) => formatTicks(ticks) },
        { ...axis, size: 62, values: (_, ticks) => formatTicks(ticks) },
      ],
      series: [
        {},
        ...series.segments.map((segment) => ({
          label: `segment ${segment.segment}`,
          stroke: segment.counts ? color : other,
          width: segment.counts ? 1.75 : 1.25,
          ...(segment.counts ? {} : { dash: [5, 4] }),
          points: {
            show: showsPoints,
            size: segment.counts ? 5 : 4,
            fill: segment.counts ? color : cssColor("--surface"),
          },
        })),
      ],
      hooks: {
        drawClear: [(plot) => this.drawWarmUp(plot), (plot) => this.drawBand(plot)],
        draw: [
          (plot) => this.drawMarks(plot),
          (plot) => this.drawMean(plot),
          (plot) => this.drawOffScale(plot, color, other),
        ],
        setCursor: [(plot) => this.onCursor(plot.cursor.idx ?? null)],
      },
    };
    return new uPlot(options, this.data(), this.host);
  }

  // Left and right edge of the window on the canvas, clipped to the plot; null when outside it.
  private bandEdges(plot: uPlot): [number, number] | null {
    const { window } = this.input;
    if (!window || this.input.series.iterations.length === 0) return null;
    const { left, width } = plot.bbox;
    const from = Math.max(plot.valToPos(window.first - 0.5, "x", true), left);
    const to = Math.min(plot.valToPos(window.last + 0.5, "x", true), left + width);
    return to > from ? [from, to] : null;
  }

  private drawWarmUp(plot: uPlot): void {
    const steps = this.input.marks.filter(({ kind }) => kind === "warm_up");
    if (steps.length === 0) return;
    const iterations = steps.map(({ iteration }) => iteration);
    const { ctx, bbox } = plot;
    const x = (iteration: number) => Math.round(plot.valToPos(iteration, "x", true));
    const from = Math.max(x(Math.min(...iterations) - 0.5), bbox.left);
    const to = Math.min(x(Math.max(...iterations) + 0.5), bbox.left + bbox.width);
    if (to <= from) return;
    ctx.save();
    ctx.fillStyle = cssColor("--warm-up");
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
    ctx.restore();
  }

  private drawBand(plot: uPlot): void {
    const edges = this.bandEdges(plot);
    if (!edges) return;
    const { ctx } = plot;
    const { top, height } = plot.bbox;
    ctx.save();
    ctx.fillStyle = cssColor("--band");
    ctx.fillRect(edges[0], top, edges[1] - edges[0], height);
    ctx.strokeStyle = cssColor("--band-edge");
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    for (const x of edges) {
      ctx.moveTo(Math.round(x), top);
      ctx.lineTo(Math.round(x), top + height);
    }
    ctx.stroke();
    ctx.restore();
  }

  private drawMean(plot: uPlot): void {
    const edges = this.bandEdges(plot);
    const { mean } = this.input;
    if (!edges || mean === null || isOffScale(mean, this.range)) return;
    const { ctx } = plot;
    const y = Math.round(plot.valToPos(mean, "y", true));
    ctx.save();
    ctx.strokeStyle = cssColor("--text");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(edges[0], y);
    ctx.lineTo(edges[1], y);
    ctx.stroke();
    ctx.restore();
  }

  // A checkpoint is a dotted line at its iteration, an evaluation a dashed one; a step that stands
  // out has a ring round it, and one without a number a cross at the upper edge.
  private drawMarks(plot: uPlot): void {
    const { ctx } = plot;
    const { left, top, width, height } = plot.bbox;
    const { series, marks } = this.input;
    const counting = series.segments.find((segment) => segment.counts);
    ctx.save();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (const { iteration, kind } of marks) {
      const x = Math.round(plot.valToPos(iteration, "x", true));
      if (x < left || x > left + width) continue;
      ctx.beginPath();
      if (kind === "warm_up") continue; // lies behind the lines
      if (kind === "nan") {
        const size = 4 * devicePixelRatio;
        ctx.strokeStyle = cssColor("--bad");
        ctx.setLineDash([]);
        ctx.moveTo(x - size, top + devicePixelRatio);
        ctx.lineTo(x + size, top + devicePixelRatio + 2 * size);
        ctx.moveTo(x + size, top + devicePixelRatio);
        ctx.lineTo(x - size, top + devicePixelRatio + 2 * size);
      } else if (kind === "checkpoint" || kind === "evaluation") {
        ctx.strokeStyle = cssColor(kind === "checkpoint" ? "--run" : "--odd");
        const dash = kind === "checkpoint" ? [2, 3] : [8, 4];
        ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
        ctx.moveTo(x, top);
        ctx.lineTo(x, top + height);
      } else {
        const value = counting?.values[series.placeOf.get(iteration) ?? -1] ?? null;
        if (value === null || isOffScale(value, this.range)) continue;
        ctx.strokeStyle = cssColor(kind === "outlier" ? "--warn" : "--odd");
        ctx.setLineDash([]);
        const radius = (kind === "outlier" ? 7 : 5.5) * devicePixelRatio;
        ctx.arc(x, plot.valToPos(value, "y", true), radius, 0, 2 * Math.PI);
      }
      ctx.stroke();
    }
    ctx.restore();
  }

  private drawOffScale(plot: uPlot, color: string, other: string): void {
    const { ctx } = plot;
    const { left, top, width, height } = plot.bbox;
    const size = 5 * devicePixelRatio;
    ctx.save();
    for (const segment of this.input.series.segments) {
      ctx.fillStyle = segment.counts ? color : other;
      segment.values.forEach((value, at) => {
        if (!isOffScale(value, this.range)) return;
        const x = plot.valToPos(this.input.series.iterations[at] ?? 0, "x", true);
        if (x < left || x > left + width) return;
        const isAbove = (value ?? 0) > (this.range?.max ?? 0);
        const tip = isAbove ? top : top + height;
        const base = isAbove ? top + 1.6 * size : top + height - 1.6 * size;
        ctx.beginPath();
        ctx.moveTo(x, tip);
        ctx.lineTo(x - size, base);
        ctx.lineTo(x + size, base);
        ctx.closePath();
        ctx.fill();
      });
    }
    ctx.restore();
  }
}
