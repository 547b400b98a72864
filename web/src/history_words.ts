// What the history of step times says, in words: what changed, when, and with what. Pure.
import type {
  History,
  HistoryChange,
  HistoryDrift,
  HistoryMeanChange,
  HistorySeries,
} from "./api/types";
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

// A change of level, of means or a drift, or what the two newest runs say before there can be one.
export interface ToldChange {
  series: HistorySeries;
  key: string; // among those of the series
  verdict: HistoryChange["verdict"];
  runId: number | null; // the first run of it
  startedAt: string | null; // of that
  seenAt: string | null; // of the last run that adds to it
  amount: string; // the following in words
  levels: string;
  cause: string;
  // Whether the verdict is of the step time: slow steps that come with a change of the medians do
  // not say which way that goes.
  ofStepTime: boolean;
}

export type Told = Omit<ToldChange, "series">;

type SlowSteps = HistoryMeanChange["verdict"];

const kSlowStepWords: Record<SlowSteps, string> = {
  more_slow_steps: "more slow steps",
  fewer_slow_steps: "fewer slow steps",
};

// What they alone make of a run, as its verdict is shown.
const kSlowStepVerdicts: Record<SlowSteps, HistoryChange["verdict"]> = {
  more_slow_steps: "slower",
  fewer_slow_steps: "faster",
};

const hasOtherSlowSteps = (means: HistorySeries["newest_means"]): means is SlowSteps =>
  means === "more_slow_steps" || means === "fewer_slow_steps";

// The newest first; those of which no start is known at the end.
export function toldChanges(history: History): ToldChange[] {
  const all = history.series.flatMap((series) =>
    [
      ...series.changes.map((change) => toldChange(series, change)),
      ...series.mean_changes.map((change) => toldMeanChange(series, change)),
      ...(series.drift ? [toldDrift(series, series.drift)] : []),
      ...toldNewest(series),
    ].map((told): ToldChange => ({ series, ...told })),
  );
  const timeOf = ({ seenAt }: ToldChange) => (seenAt ? Date.parse(seenAt) : -Infinity);
  return all.sort((a, b) => timeOf(b) - timeOf(a) || 0);
}

const startOf = ({ runs }: HistorySeries, at: number) => runs.at(at)?.launched_at ?? null;

export function toldChange(series: HistorySeries, change: HistoryChange): Told {
  const startedAt = startOf(series, change.at);
  return {
    key: `change ${change.run_id}`,
    verdict: change.verdict,
    runId: change.run_id,
    startedAt,
    seenAt: startedAt,
    amount: amountWords(change),
    levels: levelWords(change),
    cause: causeWords(change),
    ofStepTime: true,
  };
}

export function toldMeanChange(series: HistorySeries, change: HistoryMeanChange): Told {
  const startedAt = startOf(series, change.at);
  return {
    key: `means ${change.run_id}`,
    verdict: kSlowStepVerdicts[change.verdict],
    runId: change.run_id,
    startedAt,
    seenAt: startedAt,
    amount: meanAmountWords(change),
    levels: meanLevelWords(change),
    cause: causeWords(change),
    ofStepTime: !series.changes.some(({ at }) => at === change.at),
  };
}

export function toldDrift(series: HistorySeries, drift: HistoryDrift): Told {
  return {
    key: `drift ${drift.run_id}`,
    verdict: drift.verdict,
    runId: drift.run_id,
    startedAt: startOf(series, drift.at),
    seenAt: startOf(series, drift.last_at),
    amount: driftAmountWords(drift),
    levels: levelWords(drift),
    cause: driftWords(drift),
    ofStepTime: true,
  };
}

export function toldNewest(series: HistorySeries): Told[] {
  const startedAt = startOf(series, -2);
  const { newest, newest_means: means } = series;
  const medians = newest === "slower" || newest === "faster" ? newest : null;
  const of = (
    key: string,
    verdict: ToldChange["verdict"],
    amount: string,
    whose: string,
  ): Told => ({
    key,
    verdict,
    runId: series.runs.at(-2)?.id ?? null,
    startedAt,
    seenAt: startedAt,
    amount,
    levels: "",
    cause: `So say ${whose}, by more than noise explains; more runs would make it sure.`,
    ofStepTime: key === "newest" || medians === null,
  });
  return [
    ...(medians ? [of("newest", medians, medians, "its two newest runs")] : []),
    ...(hasOtherSlowSteps(means)
      ? [
          of(
            "newest means",
            kSlowStepVerdicts[means],
            kSlowStepWords[means],
            "the means of its two newest runs, over their medians",
          ),
        ]
      : []),
  ];
}

// `days`: null for any time, which holds what has no known start, too.
export function isWithin(told: ToldChange, days: number | null, nowMs: number): boolean {
  if (days === null) return true;
  return told.seenAt !== null && nowMs - Date.parse(told.seenAt) <= days * kDayMs;
}

const configurations = (count: number) =>
  count === 1 ? "one configuration" : formatPlural(count, "configuration");

const isTold = ({ newest, changes, mean_changes }: HistorySeries) =>
  newest !== "unknown" || changes.length > 0 || mean_changes.length > 0;

// "Slower in the last 30 days: 1 of 12 configurations. Faster: none.", where some have too few runs
// "… none of the 3 configurations that can be told; 9 have too few runs. Faster: none."
export function summaryWords(
  history: History,
  within: readonly ToldChange[],
  days: number | null,
): string {
  const count = (verdict: ToldChange["verdict"]) =>
    new Set(
      within
        .filter((told) => told.ofStepTime && told.verdict === verdict)
        .map(({ series }) => series),
    ).size;
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

type Moved = Pick<HistoryChange, "verdict" | "step_time_ratio">;

// "4.1 % slower"
export function amountWords({ verdict, step_time_ratio: ratio }: Moved): string {
  return ratio === null ? verdict : `${formatPercent(Math.abs(ratio - 1))} ${verdict}`;
}

function driftAmountWords(drift: HistoryDrift): string {
  return `${amountWords(drift)}, run by run`;
}

// "drifts from here on, 4.1 % slower in all", "drifted from here to run 12, 4.1 % slower in all"
export function driftRowWords(drift: HistoryDrift): string {
  const [least, inAll] = drift.may_begin_earlier ? [" at least", ""] : ["", " in all"];
  return (
    `${drift.goes_on ? "drifts" : "drifted"}${least} from here ` +
    `${drift.goes_on ? "on" : `to run ${drift.last_run_id}`}, ${amountWords(drift)}${inAll}`
  );
}

// "more slow steps (means 9.0 % off medians, 0.1 % before)"
export function meanAmountWords(change: HistoryMeanChange): string {
  const { verdict, mean_to_median_before: before, mean_to_median_after: after } = change;
  const words = kSlowStepWords[verdict];
  if (before === null || after === null) return words;
  // No "-0.0 %": a negative zero and 0 are 0.
  const off = (ratio: number) => formatPercent(Math.round(1e3 * (ratio - 1)) / 1e3 + 0);
  return `${words} (means ${off(after)} off medians, ${off(before)} before)`;
}

type Levels = Pick<HistoryChange, "step_time_s_before" | "step_time_s_after">;

// ", median step time 12.31 s to 12.82 s"; empty where a level is not known.
export function levelWords(change: Levels): string {
  return betweenWords("median", change.step_time_s_before, change.step_time_s_after);
}

function meanLevelWords(change: HistoryMeanChange): string {
  return betweenWords("mean", change.step_time_s_mean_before, change.step_time_s_mean_after);
}

function betweenWords(what: string, before: number | null, after: number | null): string {
  if (before === null || after === null) return "";
  return `, ${what} step time ${formatSeconds(before)} to ${formatSeconds(after)}`;
}

// "Each run is 0.99 % slower than the one before, on average; it goes on to the newest run."
function driftWords(drift: HistoryDrift): string {
  const each = drift.step_time_ratio_per_run;
  return (
    (each === null
      ? "It moves from run to run"
      : `Each run is ${formatPercent(Math.abs(each - 1), 2)} ${drift.verdict} than the one before, ` +
        "on average") +
    `; ${drift.goes_on ? "it goes on to the newest run" : `it ended at run ${drift.last_run_id}`}.` +
    (drift.may_begin_earlier ? " It may have begun earlier: older runs are not looked at." : "")
  );
}

export function differenceWords({ key, before, after }: HistoryChange["differences"][number]) {
  const name = writtenName(key) === null ? formatKey(key) : `'${formatKey(key)}'`;
  return `${name} from ${before ?? "not stated"} to ${after ?? "not stated"}`;
}

// What of the configuration changed with it; and what differs there, but within a level, too.
export function causeWords({ differences }: Pick<HistoryChange, "differences">): string {
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
  drifting: "Its level drifts, and the newest runs go on with it.",
  unknown: "Too few runs since the last change to tell whether the newest leave its level again.",
};

export function newestWords(series: HistorySeries): string {
  const { newest_means: means } = series;
  if (!hasOtherSlowSteps(means)) return newestOfMedians(series);
  return (
    `${newestOfMedians(series)} The two newest have ${kSlowStepWords[means]} than those before ` +
    "them: their means over their medians differ by more than noise explains."
  );
}

function newestOfMedians(series: HistorySeries): string {
  const { newest, newest_means, changes, mean_changes, drift, runs } = series;
  if (newest === "steady" && drift) return "The newest runs are where its drift ended.";
  if (newest === "steady" && changes.length === 0) {
    const means = mean_changes.length > 0 || hasOtherSlowSteps(newest_means);
    return means
      ? "The level of its medians never changed, and those of the newest runs are on it."
      : "Its level never changed, and the newest runs are on it.";
  }
  if (newest !== "unknown") return kNewest[newest];
  if (changes.length > 0) return kNewest.unknown;
  return `${formatPlural(runs.length, "run")}, too few to tell whether the newest are slower.`;
}
