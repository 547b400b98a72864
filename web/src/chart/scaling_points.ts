// A scaling series as a plot: points by GPU count on a logarithmic axis, values from zero. Pure.
import type { ScalingSeries } from "../api/types";

export interface PlotPoint {
  gpus: number;
  value: number;
  low: number | null; // of an interval
  high: number | null;
}

export interface ScalingPlotData {
  measured: PlotPoint[];
  published: PlotPoint[];
  ideal: number | null; // what every scale would reach, were there no loss
  gpus: number[]; // every scale once, rising
  bottom: number; // of the value axis
  top: number;
}

function makePlot(measured: PlotPoint[], published: PlotPoint[]): ScalingPlotData {
  const all = [...measured, ...published];
  const gpus = [...new Set(all.map((point) => point.gpus))].sort((a, b) => a - b);
  const highest = Math.max(0, ...all.map((point) => Math.max(point.value, point.high ?? 0)));
  return {
    measured,
    published,
    ideal: measured[0]?.value ?? null,
    gpus,
    bottom: 0,
    top: roundUp(1.08 * highest),
  };
}

export function throughputPlot(series: ScalingSeries): ScalingPlotData {
  const measured = series.points.flatMap(({ gpu_count, tokens_per_s_per_gpu }) =>
    tokens_per_s_per_gpu.mean === null
      ? []
      : [
          {
            gpus: gpu_count,
            value: tokens_per_s_per_gpu.mean,
            low: tokens_per_s_per_gpu.low,
            high: tokens_per_s_per_gpu.high,
          },
        ],
  );
  const published = series.published.map(({ gpu_count, tokens_per_s_per_gpu }) => ({
    gpus: gpu_count,
    value: tokens_per_s_per_gpu,
    low: null,
    high: null,
  }));
  return makePlot(measured, published);
}

// The scale that each efficiency is against: the smallest measured, and the document's smallest.
export interface EfficiencyBases {
  measured: number | null; // GPUs
  published: number | null;
}

export function efficiencyBases(series: ScalingSeries): EfficiencyBases {
  return {
    measured: series.points[0]?.gpu_count ?? null,
    published: series.published[0]?.gpu_count ?? null,
  };
}

export function efficiencyPlot(series: ScalingSeries): ScalingPlotData {
  const plain = (gpus: number, value: number) => ({ gpus, value, low: null, high: null });
  const measured = series.points.flatMap(({ gpu_count, efficiency }) =>
    efficiency === null ? [] : [plain(gpu_count, efficiency)],
  );
  const published = series.published.map(({ gpu_count, efficiency }) =>
    plain(gpu_count, efficiency),
  );
  const plot = makePlot(measured, published);
  const values = [1, ...[...measured, ...published].map(({ value }) => value)];
  return { ...plot, ...efficiencyAxis(values), ideal: 1 };
}

const kEfficiencyTicks = 4;

// From a round number just below the values: a loss of two percent is to be seen, and on an axis
// from zero it is not.
export function efficiencyAxis(values: readonly number[]): { bottom: number; top: number } {
  const low = Math.min(...values) - 0.02;
  const high = Math.max(...values) + 0.02;
  for (const step of [0.05, 0.1, 0.2, 0.25]) {
    const bottom = Math.max(0, Math.floor(low / step + 1e-9) * step);
    const top = bottom + kEfficiencyTicks * step;
    if (top >= high) return { bottom, top };
  }
  return { bottom: 0, top: roundUp(high) };
}

// 1, 2, 2.5 or 5 times a power of ten, and a multiple of what four ticks need.
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8, 10];
  return magnitude * (steps.find((step) => step * magnitude >= value) ?? 10);
}

// Every scale of several plots that share an axis.
export function sharedAxis(plots: readonly ScalingPlotData[]): number[] {
  return [...new Set(plots.flatMap(({ gpus }) => gpus))].sort((a, b) => a - b);
}

// Where a scale stands between the smallest (0) and the largest (1); the middle for one alone.
export function placeOf(gpus: number, axis: readonly number[]): number {
  const first = axis[0] ?? gpus;
  const last = axis[axis.length - 1] ?? gpus;
  return first === last ? 0.5 : Math.log(gpus / first) / Math.log(last / first);
}
