// A configuration's history as a plot: runs at the time of their starts, the levels of their step
// times, and the axis of these. Pure.
import type { HistoryDrift, HistorySeries } from "../api/types";
import type { Zone } from "../format";
import { kWhole, partOf } from "./plot_zoom";
import { fullRange, isOffScale, steadyRange, type Range } from "./scale";
import { timeTicks } from "./time_ticks";

export interface HistoryPoint {
  run: HistorySeries["runs"][number];
  place: number; // 0 at the first run, 1 at the last
  value: number; // seconds, on the scale
  isOffScale: boolean; // and drawn at its edge
}

export interface HistoryLevel {
  from: number; // places
  to: number;
  value: number; // seconds, at `from`
  endValue: number; // at `to`
}

export interface HistoryMark {
  place: number;
  number: number; // as the sentences below the plot are numbered
  verdict: HistorySeries["changes"][number]["verdict"];
}

export interface HistoryPlotData {
  points: HistoryPoint[];
  levels: HistoryLevel[];
  marks: HistoryMark[];
  range: Range;
  isInTime: boolean; // and not by order alone
}

const kMiddle = 0.5; // of one run, or of runs that started together

// Runs of which one does not say when it started stand at equal distances.
export function placesOf(runs: HistorySeries["runs"]): { places: number[]; isInTime: boolean } {
  const times = runs.map(({ launched_at }) => (launched_at ? Date.parse(launched_at) : NaN));
  const isInTime = times.every(Number.isFinite);
  const axis = isInTime ? times : runs.map((_, at) => at);
  const first = Math.min(...axis);
  const span = Math.max(...axis) - first;
  return { places: axis.map((at) => (span > 0 ? (at - first) / span : kMiddle)), isInTime };
}

function levelsOf(series: HistorySeries, places: readonly number[]): HistoryLevel[] {
  const { changes, drift } = series;
  const begins = [0, ...changes.map(({ at }) => at)];
  const values = [changes[0]?.step_time_s_before, ...changes.map((one) => one.step_time_s_after)];
  return begins.flatMap((begin, level) => {
    const isNewest = level === changes.length;
    if (isNewest && drift) return driftOf(drift, begin, places);
    const value = values[level];
    const end = (begins[level + 1] ?? places.length) - 1;
    if (typeof value !== "number") return [];
    return [{ from: places[begin] ?? 0, to: places[end] ?? 1, value, endValue: value }];
  });
}

// From run to run, for it goes by these and not by time.
function driftOf(drift: HistoryDrift, begin: number, places: readonly number[]): HistoryLevel[] {
  const { at, last_at: last, step_time_s_before: before, step_time_ratio_per_run: each } = drift;
  if (before === null || each === null) return [];
  const value = (run: number) => before * each ** (Math.min(Math.max(run, at), last) - at);
  return places.slice(begin + 1).map((to, step) => ({
    from: places[begin + step] ?? 0,
    to,
    value: value(begin + step),
    endValue: value(begin + step + 1),
  }));
}

// Null where no run has a step time. A level is always on the scale; a single odd run need not be.
export function historyPlot(series: HistorySeries): HistoryPlotData | null {
  const { places, isInTime } = placesOf(series.runs);
  const values = series.runs.map((run) => run.step_time_s_median);
  const levels = levelsOf(series, places);
  const steady = steadyRange(values, values);
  const inside = values.filter((value) => !isOffScale(value, steady));
  const range = fullRange([...inside, ...levels.flatMap(({ value, endValue }) => [value, endValue])]);
  if (!range) return null;
  const points = series.runs.flatMap((run, at) => {
    const { step_time_s_median: value } = run;
    if (value === null) return [];
    return [
      {
        run,
        place: places[at] ?? kMiddle,
        value: Math.min(Math.max(value, range.min), range.max),
        isOffScale: isOffScale(value, range),
      },
    ];
  });
  const marks = series.changes.map((change, at) => ({
    place: places[change.at] ?? kMiddle,
    number: at + 1,
    verdict: change.verdict,
  }));
  return { points, levels, marks, range, isInTime };
}

// What of it lies in a part of the axis; the scale of the values stays.
export function within(plot: HistoryPlotData, { min: from, max: to }: Range): HistoryPlotData {
  const isIn = ({ place }: { place: number }) => place >= from && place <= to;
  return {
    ...plot,
    points: plot.points.filter(isIn),
    marks: plot.marks.filter(isIn),
    levels: plot.levels
      .filter((level) => level.to >= from && level.from <= to)
      .map((level) => cut(level, from, to)),
  };
}

function cut(level: HistoryLevel, from: number, to: number): HistoryLevel {
  const span = level.to - level.from;
  const rise = span > 0 ? (level.endValue - level.value) / span : 0;
  const begin = Math.max(from, level.from);
  const end = Math.min(to, level.to);
  return {
    from: begin,
    to: end,
    value: level.value + rise * (begin - level.from),
    endValue: level.endValue - rise * (level.to - end),
  };
}

// Round values within the range, about as many as asked for.
export function valueTicks({ min, max }: Range, count: number): number[] {
  const rough = (max - min) / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5, 10].find((one) => one * magnitude >= rough) ?? 10);
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}

// The axis of the runs' starts, as far as it is shown; at most `count` ticks.
export function startTicks(
  runs: HistorySeries["runs"],
  count: number,
  zone: Zone,
  shown: Range = kWhole,
): { place: number; label: string }[] {
  const times = runs.map(({ launched_at }) => Date.parse(launched_at ?? ""));
  const all = { min: Math.min(...times), max: Math.max(...times) };
  if (!Number.isFinite(all.min)) return [];
  const span = all.max - all.min;
  return timeTicks(partOf(all, shown), count, zone).map(({ at, label }) => ({
    place: span > 0 ? (at - all.min) / span : kMiddle,
    label,
  }));
}
