// What the history of step times says, in words: what changed, when, and with what. Pure.
import type { History, HistoryChange, HistorySeries } from "./api/types";
import { kNoCluster } from "./cluster_words";
import {
  formatCount,
  formatKey,
  formatPercent,
  formatPlural,
  formatSeconds,
  formatWorkload,
  writtenName,
} from "./format";

const kDayMs = 86_400_000;

export function seriesName(series: HistorySeries): string {
  return [configurationName(series), series.cluster].filter(Boolean).join(", ");
}

// With what tells them apart: the cluster where there are several, and of one configuration's series
// the global batch size and the window, as far as these differ.
export function seriesNames(all: readonly HistorySeries[]): Map<HistorySeries, string> {
  const byName = new Map<string, HistorySeries[]>();
  for (const one of all) {
    const name = configurationName(one);
    byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  const severalClusters = all.some(({ cluster }) => cluster !== all[0]?.cluster);
  const names = new Map<HistorySeries, string>();
  for (const [name, alike] of byName) {
    for (const one of alike) {
      const ofCluster = severalClusters ? [one.cluster ?? kNoCluster] : [];
      names.set(one, [name, ...ofCluster, ...tellingParts(one, alike)].join(", "));
    }
  }
  return names;
}

function tellingParts(one: HistorySeries, alike: readonly HistorySeries[]): string[] {
  const { global_batch_size: batch, window } = one;
  const others = alike.filter((other) => other !== one);
  const parts: string[] = [];
  if (others.some((other) => other.global_batch_size !== batch)) {
    parts.push(batch === null ? "global batch not stated" : `global batch ${formatCount(batch)}`);
  }
  if (others.some((other) => other.window !== window)) parts.push(`window ${window}`);
  return parts;
}

function configurationName(series: HistorySeries): string {
  const { workload, model_size, dtype, gpu_type, gpu_count } = series;
  const what = [workload && formatWorkload(workload), model_size, dtype].filter(Boolean).join(" ");
  const gpus = gpu_count === null ? gpu_type : `${formatCount(gpu_count)} × ${gpu_type ?? "GPU"}`;
  const name = what || "runs that do not say what they train";
  return [name, gpus].filter(Boolean).join(", ");
}

// A change of level, or (without one) what the two newest runs say before there can be one.
export interface ToldChange {
  series: HistorySeries;
  change: HistoryChange | null;
  verdict: HistoryChange["verdict"];
  startedAt: string | null; // of the first run of it
}

// The newest first; those of which no start is known at the end.
export function toldChanges(history: History): ToldChange[] {
  const all = history.series.flatMap((series) => {
    const told: ToldChange[] = series.changes.map((change) => ({
      series,
      change,
      verdict: change.verdict,
      startedAt: series.runs[change.at]?.launched_at ?? null,
    }));
    if (series.newest === "slower" || series.newest === "faster") {
      const startedAt = series.runs.at(-2)?.launched_at ?? null;
      told.push({ series, change: null, verdict: series.newest, startedAt });
    }
    return told;
  });
  const timeOf = ({ startedAt }: ToldChange) => (startedAt ? Date.parse(startedAt) : -Infinity);
  return all.sort((a, b) => timeOf(b) - timeOf(a) || 0);
}

// `days`: null for any time, which holds what has no known start, too.
export function isWithin(told: ToldChange, days: number | null, nowMs: number): boolean {
  if (days === null) return true;
  return told.startedAt !== null && nowMs - Date.parse(told.startedAt) <= days * kDayMs;
}

const configurations = (count: number) =>
  count === 1 ? "one configuration" : formatPlural(count, "configuration");

const isTold = ({ newest, changes }: HistorySeries) => newest !== "unknown" || changes.length > 0;

// "Slower in the last 30 days: 1 of 12 configurations. Faster: none.", where some have too few runs
// "… none of the 3 configurations that can be told; 9 have too few runs. Faster: none."
export function summaryWords(
  history: History,
  within: readonly ToldChange[],
  days: number | null,
): string {
  const count = (verdict: ToldChange["verdict"]) =>
    new Set(within.filter((told) => told.verdict === verdict).map(({ series }) => series)).size;
  const when = days === null ? "at any time" : `in the last ${formatPlural(days, "day")}`;
  const all = history.series.length;
  const toldCount = history.series.filter(isTold).length;
  const untold = all - toldCount;
  if (toldCount === 0) {
    const which = `${all === 1 ? "the" : "any of"} ${configurations(all)}`;
    return `Slower ${when}: cannot be told of ${which}, for want of runs.`;
  }
  const which =
    untold === 0
      ? formatPlural(all, "configuration")
      : `the ${configurations(toldCount)} that can be told; ` +
        `${formatCount(untold)} ${untold === 1 ? "has" : "have"} too few runs`;
  const slower = count("slower");
  const faster = count("faster");
  return (
    `Slower ${when}: ${slower === 0 ? "none" : formatCount(slower)} of ${which}. ` +
    `Faster: ${faster === 0 ? "none" : formatCount(faster)}.`
  );
}

// Why a change that came with another window is in no series; empty where all have one window.
export function otherWindowsWords(history: History): string {
  const split = history.series.filter((series) => series.other_windows.length > 0);
  if (split.length === 0) return "";
  const windows = [...new Set(split.map((series) => series.window))].sort().join(", ");
  return (
    `${formatPlural(split.length, "series is", "series are")} of configurations whose runs were ` +
    `judged over more than one window (${windows}), each a series of its own. What changed with ` +
    "the window is in none: set one window for all to see it."
  );
}

// "4.1 % slower"
export function amountWords({ verdict, step_time_ratio: ratio }: HistoryChange): string {
  return ratio === null ? verdict : `${formatPercent(Math.abs(ratio - 1))} ${verdict}`;
}

// ", median step time 12.31 s to 12.82 s"; empty where a level is not known.
export function levelWords(change: HistoryChange): string {
  const { step_time_s_before: before, step_time_s_after: after } = change;
  if (before === null || after === null) return "";
  return `, median step time ${formatSeconds(before)} to ${formatSeconds(after)}`;
}

export function differenceWords({ key, before, after }: HistoryChange["differences"][number]) {
  const name = writtenName(key) === null ? formatKey(key) : `'${formatKey(key)}'`;
  return `${name} from ${before ?? "not stated"} to ${after ?? "not stated"}`;
}

// What of the configuration changed with it; and what differs there, but within a level, too.
export function causeWords({ differences }: HistoryChange): string {
  const words = (part: HistoryChange["differences"]) => part.map(differenceWords).join("; ");
  const parting = differences.filter((one) => one.parts_levels);
  const others = differences.filter((one) => !one.parts_levels);
  return [
    parting.length === 0
      ? "Nothing that is known of the configuration changed with it."
      : `What changed with it: ${words(parting)}.`,
    others.length > 0 &&
      `${others.length === 1 ? "This differs" : "These differ"} among runs of one level, too, ` +
        `and did not make the change: ${words(others)}.`,
  ]
    .filter(Boolean)
    .join(" ");
}

const kNewest: Record<HistorySeries["newest"], string> = {
  steady: "The newest runs are on this level.",
  slower: "The two newest runs are slower than their level by more than noise explains.",
  faster: "The two newest runs are faster than their level by more than noise explains.",
  unknown: "Too few runs since the last change to tell whether the newest are slower.",
};

export function newestWords({ newest, changes, runs }: HistorySeries): string {
  if (newest === "steady" && changes.length === 0) {
    return "Its level never changed, and the newest runs are on it.";
  }
  if (newest !== "unknown") return kNewest[newest];
  if (changes.length > 0) return kNewest.unknown;
  return `${formatPlural(runs.length, "run")}, too few to tell whether the newest are slower.`;
}
