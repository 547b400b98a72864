// A y range that shows the steady steps. The first step of a run takes 7 to 56 times a steady
// one; on its scale nothing else could be seen. Pure.
import { formatPlural } from "../format";

export interface Range {
  min: number;
  max: number;
}

const kFenceWidths = 6; // of the interquartile range; beyond it a step is off the scale
const kFenceShareMin = 0.1; // of the median: even steps that vary by a tenth stay on the scale
const kSpanShareMin = 0.02; // of the median: rounding noise is not blown up to a full chart
const kMarginShare = 0.08;

export function quantile(sorted: number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? 0;
  const high = sorted[Math.ceil(at)] ?? low;
  return low + (high - low) * (at - Math.floor(at));
}

function finite(values: readonly (number | null | undefined)[]): number[] {
  return values.filter((value): value is number => Number.isFinite(value)).sort((a, b) => a - b);
}

function padded(min: number, max: number, typical: number): Range {
  const span = Math.max(max - min, Math.abs(typical) * kSpanShareMin, 1e-9);
  const middle = (min + max) / 2;
  const half = (span / 2) * (1 + 2 * kMarginShare);
  return { min: min >= 0 ? Math.max(0, middle - half) : middle - half, max: middle + half };
}

// `reference`: the steps that set the scale (those of the window); `all` serves without them.
export function steadyRange(
  all: readonly (number | null | undefined)[],
  reference: readonly (number | null | undefined)[],
): Range | null {
  let sorted = finite(reference);
  if (sorted.length < 4) sorted = finite(all);
  if (sorted.length === 0) return null;
  const median = quantile(sorted, 0.5);
  const lower = quantile(sorted, 0.25);
  const upper = quantile(sorted, 0.75);
  const fence = Math.max(kFenceWidths * (upper - lower), kFenceShareMin * Math.abs(median));
  const inside = finite(all).filter((v) => v >= lower - fence && v <= upper + fence);
  return padded(inside[0] ?? lower, inside[inside.length - 1] ?? upper, median);
}

export function fullRange(all: readonly (number | null | undefined)[]): Range | null {
  const sorted = finite(all);
  if (sorted.length === 0) return null;
  return padded(sorted[0] ?? 0, sorted[sorted.length - 1] ?? 0, quantile(sorted, 0.5));
}

export function isOffScale(value: number | null | undefined, range: Range | null): boolean {
  return range !== null && typeof value === "number" && (value < range.min || value > range.max);
}

// "▲ 2 steps above, ▼ 1 step below the scale": what is drawn as a triangle at either edge. Empty:
// every value is on the scale.
export function offScaleWords(
  values: readonly (number | null | undefined)[],
  range: Range | null,
): string {
  const off = values.filter((value): value is number => isOffScale(value, range));
  const above = off.filter((value) => value > (range?.max ?? 0)).length;
  const below = off.length - above;
  const parts: string[] = [];
  if (above > 0) parts.push(`▲ ${formatPlural(above, "step")} above`);
  if (below > 0) parts.push(`▼ ${formatPlural(below, "step")} below`);
  return parts.length === 0 ? "" : `${parts.join(", ")} the scale`;
}
