// What a log's own instruments say of its ranks, in words. Pure.
import type { RankMeasure } from "./api/types";
import { formatKey, formatNumber, formatPercent, kUnknown } from "./format";

const kSources: Record<RankMeasure["source"], string> = {
  straggler_detector: "straggler detector",
  timers: "timers over all ranks",
  nvrx: "NVRx",
  sniff_test: "GPU sniff test",
};

const kQuantities: Record<string, string> = {
  gpu_relative_performance: "GPU performance against the best rank",
  gpu_individual_performance: "GPU performance against its own best",
};

export function rankSource(measure: RankMeasure): string {
  return kSources[measure.source];
}

// Timers and sniff tests have names of their own, which stay as they were printed.
export function rankQuantity({ source, quantity }: RankMeasure): string {
  const isPrinted = source === "timers" || source === "sniff_test";
  return isPrinted ? quantity : (kQuantities[quantity] ?? formatKey(quantity));
}

// "7", "all ranks" of a figure over them, "others" of ranks without rows of their own.
export function rankName(measure: RankMeasure): string {
  if (measure.is_of_other_ranks) return "others";
  return measure.rank === null ? "all ranks" : String(measure.rank);
}

export function rankValue(value: number | null, unit: string): string {
  if (value === null) return kUnknown;
  if (unit === "1") return formatPercent(value);
  if (unit === "Hz") return `${formatNumber(value / 1e6)} MHz`;
  if (unit === "B/s") return `${formatNumber(value / 1e9)} GB/s`;
  return `${formatNumber(value)} ${unit}`;
}

// "0.7500 s, 0.7750 s": the lowest and the highest value; nothing where all are one.
export function rankRange({ value_min: min, value_max: max, unit }: RankMeasure): string {
  return min === max ? kUnknown : `${rankValue(min, unit)}, ${rankValue(max, unit)}`;
}
