// From the API's columns to what a chart draws: one shared x axis of iterations, and one series
// for each segment (a restart repeats iterations, so segments overlap). Pure.
import type { Column, StepMetric, Steps } from "../api/types";
import { windowHolds, type IterationWindow } from "../state/window";

export interface SegmentSeries {
  segment: number;
  counts: boolean; // the segment whose window is reported
  values: Column; // one for each x
}

export interface ChartSeries {
  iterations: number[]; // rising
  placeOf: ReadonlyMap<number, number>; // of an iteration among them
  segments: SegmentSeries[]; // the one that counts comes last, so that it is drawn on top
}

// A log may restart ten thousand times: beside the segment that counts, the newest ones are drawn.
const kSegmentsMax = 256;

function drawnSegments(steps: Steps, countingSegment: number): Set<number> {
  const newestFirst = [...new Set(steps.segment)].sort((a, b) => b - a);
  const drawn = new Set(newestFirst.slice(0, kSegmentsMax));
  if (newestFirst.includes(countingSegment)) drawn.add(countingSegment);
  return drawn;
}

// `scale`: what one unit of the chart is worth in the metric's own.
export function chartSeries(
  steps: Steps,
  metric: StepMetric,
  countingSegment: number,
  scale = 1,
): ChartSeries {
  const iterations = [...new Set(steps.iteration)].sort((a, b) => a - b);
  const position = new Map(iterations.map((iteration, index) => [iteration, index]));
  const drawn = drawnSegments(steps, countingSegment);
  const bySegment = new Map<number, Column>();
  steps.segment.forEach((segment, row) => {
    if (!drawn.has(segment)) return;
    let values = bySegment.get(segment);
    if (!values) {
      values = new Array<number | null>(iterations.length).fill(null);
      bySegment.set(segment, values);
    }
    const at = position.get(steps.iteration[row] ?? -1);
    const value = steps[metric]?.[row] ?? null;
    if (at !== undefined) values[at] = value === null ? null : value / scale;
  });
  const segments = [...bySegment]
    .map(([segment, values]) => ({ segment, counts: segment === countingSegment, values }))
    .sort((a, b) => Number(a.counts) - Number(b.counts) || a.segment - b.segment);
  return { iterations, placeOf: position, segments };
}

export function allValues(series: ChartSeries): Column {
  return series.segments.flatMap((segment) => segment.values);
}

// The values that a scale should be made for: the counting segment's, inside the window.
export function windowValues(series: ChartSeries, window: IterationWindow | null): Column {
  const counting = series.segments.find((segment) => segment.counts);
  if (!counting) return [];
  return counting.values.filter((_, at) => windowHolds(window, series.iterations[at] ?? -1));
}

export function hasValues(series: ChartSeries): boolean {
  return allValues(series).some((value) => value !== null);
}

// Of one of several runs in one plot, by its place.
export const seriesColour = (at: number) => `--series-${(at % 8) + 1}`;
