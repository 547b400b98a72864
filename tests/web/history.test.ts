// From a configuration's history to the places of its runs, and to sentences.
import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  History,
  HistoryChange,
  HistoryDrift,
  HistoryLeftOut,
  HistoryMeanChange,
  HistorySeries,
} from "../../web/src/api/types";
import { partOf, shareIn, zoomed } from "../../web/src/chart/plot_zoom";
import { historyPlot, placesOf, startTicks, valueTicks, within } from "../../web/src/chart/history_points";
import { nearestOf } from "../../web/src/chart/nearest_point";
import {
  amountWords,
  causeWords,
  driftRowWords,
  isWithin,
  levelWords,
  newestWords,
  otherWindowsWords,
  seriesName,
  seriesNames,
  summaryWords,
  toldChanges,
} from "../../web/src/history_words";
import {
  historyHref,
  historyOf,
  leftOutEntry,
  runHistoryHref,
  sectionlessLeftOut,
  sidesHref,
} from "../../web/src/state/history";

const kDay = 86_400_000;
const kStart = Date.parse("2025-10-01T00:00:00Z");

function weekly(values: readonly (number | null)[], further: Partial<HistorySeries> = {}) {
  const runs = values.map((value, at) => ({
    id: at + 1,
    experiment: "x",
    job_id: 100 + at,
    launched_at: new Date(kStart + 7 * at * kDay).toISOString(),
    step_time_s_mean: value,
    step_time_s_median: value,
  }));
  const series: HistorySeries = {
    workload: "pretrain_llama3",
    model_size: "70b",
    dtype: "fp8",
    gpu_type: "gb200",
    gpu_count: 64,
    global_batch_size: 128,
    window: "35-44",
    other_windows: [],
    cluster: null,
    newest: "steady",
    newest_means: "steady",
    runs,
    copies: [],
    left_out: [],
    changes: [],
    drift: null,
    mean_changes: [],
    ...further,
  };
  return series;
}

const change: HistoryChange = {
  at: 3,
  run_id: 4,
  previous_run_id: 3,
  verdict: "slower",
  step_time_s_before: 2,
  step_time_s_after: 2.1,
  step_time_ratio: 1.05,
  differences: [{ key: "NCCL_ALGO", before: null, after: "Ring", parts_levels: true }],
};
const slowed = weekly([2, 2, 2, 2.1, 2.1], { changes: [change] });

test("runs stand at their times, or in their order where one has none", () => {
  assert.deepEqual(placesOf(slowed.runs).places, [0, 0.25, 0.5, 0.75, 1]);
  const runs = slowed.runs.map((run, at) => (at === 1 ? { ...run, launched_at: null } : run));
  assert.deepEqual(placesOf(runs), { places: [0, 0.25, 0.5, 0.75, 1], isInTime: false });
  assert.deepEqual(placesOf(slowed.runs.slice(0, 1)).places, [0.5]);
});

test("levels end where the next begins, and changes are numbered", () => {
  const plot = historyPlot(slowed);
  assert.deepEqual(plot?.levels, [
    { from: 0, to: 0.5, value: 2, endValue: 2 },
    { from: 0.75, to: 1, value: 2.1, endValue: 2.1 },
  ]);
  assert.deepEqual(plot?.marks, [{ place: 0.75, number: 1, verdict: "slower" }]);
  assert.ok(plot && plot.range.min < 2 && plot.range.max > 2.1);
  assert.equal(historyPlot(weekly([null, null])), null);
});

test("a single odd run is drawn at the edge, a level never", () => {
  const odd = historyPlot(weekly([2, 2.01, 2, 2.02, 40, 2]));
  assert.deepEqual(
    odd?.points.map((point) => point.isOffScale),
    [false, false, false, false, true, false],
  );
  assert.equal(odd?.points[4]?.value, odd?.range.max);
  const far = { ...change, at: 6, step_time_s_after: 9 };
  const doubled = historyPlot(weekly([2, 2, 2, 2, 2, 2, 9, 9], { changes: [far] }));
  assert.ok(doubled?.points.every((point) => !point.isOffScale));
});

test("axes have round values, and days that begin where they are labelled", () => {
  assert.deepEqual(valueTicks({ min: 1.99, max: 2.12 }, 4).map((tick) => tick.toFixed(2)), [
    "2.00",
    "2.05",
    "2.10",
  ]);
  const days = startTicks(slowed.runs, 3, "utc");
  assert.deepEqual(
    days.map(({ label, place }) => [label, kStart + place * 28 * kDay]),
    [
      ["2025-10-13", Date.parse("2025-10-13T00:00:00Z")], // Mondays
      ["2025-10-27", Date.parse("2025-10-27T00:00:00Z")],
    ],
  );
  assert.deepEqual(startTicks(slowed.runs.slice(0, 1), 3, "utc"), [
    { place: 0.5, label: "10-01 00:00" },
  ]);
});

test("changes are told newest first, and by when they were", () => {
  const faster = weekly([2, 2, 2, 2, 2, 2, 1.5, 1.5], { newest: "faster", gpu_count: 128 });
  const series = [slowed, faster, weekly([2])];
  const history = { method: "", older_runs_left_out: 0, unplaced: [], series };
  const told = toldChanges(history);
  assert.deepEqual(
    told.map(({ verdict }) => verdict),
    ["faster", "slower"],
  );
  const at = (days: number) => kStart + days * kDay;
  const within = told.filter((one) => isWithin(one, 30, at(60)));
  assert.deepEqual(within.map((one) => one.series.gpu_count), [128]);
  assert.ok(told.every((one) => isWithin(one, null, at(9999))));
  assert.equal(
    summaryWords(history, within, 30),
    "Slower in the last 30 days: none of 3 configurations. Faster: 1.",
  );
});

const drift: HistoryDrift = {
  at: 1,
  run_id: 2,
  last_at: 4,
  last_run_id: 5,
  verdict: "slower",
  may_begin_earlier: false,
  goes_on: true,
  step_time_s_before: 2,
  step_time_s_after: 2.662,
  step_time_ratio: 1.331,
  step_time_ratio_per_run: 1.1,
};
const drifting = weekly([2, 2, 2.2, 2.42, 2.662], { newest: "drifting", drift });

test("a drift is told by how much and since when, while it goes on", () => {
  const history = { method: "", older_runs_left_out: 0, unplaced: [], series: [drifting] };
  const [told] = toldChanges(history);
  assert.ok(told);
  assert.equal(told.amount, "33.1 % slower, run by run");
  assert.match(told.levels, /^, median step time 2\S* s to 2\.66\S* s$/);
  assert.equal(
    told.cause,
    "Each run is 10.00 % slower than the one before, on average; it goes on to the newest run.",
  );
  assert.equal(told.startedAt, drifting.runs[1]?.launched_at);
  assert.ok(isWithin(told, 7, kStart + 30 * kDay), "its newest run is of these days");
  assert.match(summaryWords(history, [told], 7), /^Slower in the last 7 days: 1 of 1 config/);
  assert.match(newestWords(drifting), /^Its level drifts/);
  const ended = { ...drifting, newest: "steady", drift: { ...drift, goes_on: false, last_at: 3 } } as HistorySeries;
  assert.match(newestWords(ended), /where its drift ended/);
});

test("the row where a drift begins says whether it ended, and whether it may begin earlier", () => {
  assert.equal(driftRowWords(drift), "drifts from here on, 33.1 % slower in all");
  const ended = { ...drift, goes_on: false, last_at: 3, last_run_id: 4 };
  assert.equal(driftRowWords(ended), "drifted from here to run 4, 33.1 % slower in all");
  const cut = { ...drift, may_begin_earlier: true };
  assert.equal(driftRowWords(cut), "drifts at least from here on, 33.1 % slower");
  const [told] = toldChanges({ series: [{ ...drifting, drift: cut }] } as unknown as History);
  assert.match(told?.cause ?? "", /It may have begun earlier: older runs are not looked at\.$/);
});

test("a drift is drawn from run to run, and cut as a level is", () => {
  const plot = historyPlot(drifting);
  const ends = plot?.levels.map(({ value, endValue }) => [value.toFixed(2), endValue.toFixed(2)]);
  assert.deepEqual(ends, [
    ["2.00", "2.00"],
    ["2.00", "2.20"],
    ["2.20", "2.42"],
    ["2.42", "2.66"],
  ]);
  const part = plot && within(plot, { min: 0.375, max: 1 });
  assert.equal(part?.levels[0]?.value.toFixed(2), "2.10");
});

function summaryOf(series: HistorySeries): string {
  const history = { method: "", older_runs_left_out: 0, unplaced: [], series: [series] };
  return summaryWords(history, toldChanges(history), null);
}

test("slow steps beside a change of medians do not say that a configuration went slower", () => {
  const place = { at: 3, run_id: 4, previous_run_id: 3, differences: [] };
  const both = weekly([5, 5, 5, 4, 4], {
    changes: [
      {
        ...place,
        verdict: "faster",
        step_time_s_before: 5,
        step_time_s_after: 4,
        step_time_ratio: 0.8,
      },
    ],
    mean_changes: [
      {
        ...place,
        verdict: "more_slow_steps",
        mean_to_median_before: 1,
        mean_to_median_after: 1.0523,
        step_time_s_mean_before: 4.999,
        step_time_s_mean_after: 4.211,
      },
    ],
  });
  assert.equal(toldChanges({ series: [both] } as unknown as History).length, 2);
  assert.match(summaryOf(both), /^Slower at any time: none of 1 configuration\. Faster: 1/);
});

test("slow steps are told by means, and then the level is that of medians", () => {
  const change: HistoryMeanChange = {
    at: 3,
    run_id: 4,
    previous_run_id: 3,
    verdict: "more_slow_steps",
    mean_to_median_before: 0.99999,
    mean_to_median_after: 1.09,
    step_time_s_mean_before: 2,
    step_time_s_mean_after: 2.18,
    differences: [],
  };
  const slow = weekly([2, 2, 2, 2, 2], { mean_changes: [change] });
  const [told] = toldChanges({ series: [slow] } as unknown as History);
  assert.equal(told?.amount, "more slow steps (means 9.0 % off medians, 0.0 % before)");
  assert.match(told?.levels ?? "", /^, mean step time 2/);
  assert.match(newestWords(slow), /^The level of its medians never changed/);
  const newest = weekly([2, 2], { newest_means: "more_slow_steps" });
  assert.match(summaryOf(slow), /^Slower at any time: 1 of 1 configuration\. Faster: none/);
  const words = toldChanges({ series: [newest] } as unknown as History).map((one) => one.amount);
  assert.deepEqual(words, ["more slow steps"]);
  assert.match(newestWords(newest), /The two newest have more slow steps than those before them/);
});

test("what has too few runs is not told to be no slower", () => {
  const few = weekly([2, 2.1], { newest: "unknown" });
  const words = (...series: HistorySeries[]) =>
    summaryWords({ series } as unknown as History, [], 30);
  assert.equal(
    words(weekly([2, 2]), few, few),
    "Slower in the last 30 days: none of the one configuration that can be told; 2 have too few " +
      "runs. Faster: none.",
  );
  assert.equal(
    words(few, few),
    "Slower in the last 30 days: cannot be told of any of 2 configurations, for want of runs.",
  );
  assert.match(words(few), /cannot be told of the one configuration/);
});

test("a change says how much, and with what", () => {
  assert.equal(seriesName(slowed), "llama3 70b fp8, 64 × gb200");
  assert.equal(seriesName({ ...slowed, cluster: "eos" }), "llama3 70b fp8, 64 × gb200, eos");
  assert.equal(amountWords(change), "5.0 % slower");
  assert.match(levelWords(change), /^, median step time 2\S* s to 2\.1\S* s$/);
  assert.equal(causeWords(change), "What changed with it: 'NCCL_ALGO' from not stated to Ring.");
  assert.match(causeWords({ ...change, differences: [] }), /^Nothing that is known/);
  const release = { key: "release", before: "25.12", after: "25.10", parts_levels: false };
  assert.equal(
    causeWords({ ...change, differences: [release] }),
    "Nothing that is known of the configuration changed with it. " +
      "This differs among runs of one level, too, and did not make the change: " +
      "release from 25.12 to 25.10.",
  );
  assert.match(
    causeWords({ ...change, differences: [release, { ...release, key: "dtype" }] }),
    /\. These differ among runs of one level, too, and did not make the change: /,
  );
  assert.match(newestWords(weekly([2, 2])), /^Its level never changed/);
  assert.match(newestWords(slowed), /^The newest runs are on this level/);
  assert.equal(
    newestWords(weekly([2], { newest: "unknown" })),
    "1 run, too few to tell whether the newest are slower.",
  );
});

test("a configuration that is judged over two windows is two series, and says so", () => {
  const history = (...series: HistorySeries[]) => ({ series }) as unknown as History;
  assert.equal(otherWindowsWords(history(slowed)), "");
  const split = history(
    slowed,
    weekly([2], { other_windows: ["11-44"] }),
    weekly([2], { window: "11-44", other_windows: ["35-44"] }),
  );
  assert.match(otherWindowsWords(split), /^2 series are of .* \(11-44, 35-44\)/);
});

test("series of one configuration have names that tell them apart", () => {
  const namesOf = (...all: HistorySeries[]) => {
    const names = seriesNames(all);
    return all.map((series) => names.get(series));
  };
  const here = weekly([2], { cluster: "eos" });
  const nowhere = weekly([2]);
  assert.deepEqual(namesOf(here, nowhere), [
    "llama3 70b fp8, 64 × gb200, eos",
    "llama3 70b fp8, 64 × gb200, no cluster named",
  ]);
  assert.deepEqual(namesOf(here, weekly([2], { window: "11-44", cluster: "eos" })), [
    "llama3 70b fp8, 64 × gb200, window 35-44",
    "llama3 70b fp8, 64 × gb200, window 11-44",
  ]);
  assert.deepEqual(namesOf(nowhere, weekly([2], { global_batch_size: 256 })), [
    "llama3 70b fp8, 64 × gb200, global batch 128",
    "llama3 70b fp8, 64 × gb200, global batch 256",
  ]);
  assert.deepEqual(namesOf(nowhere, weekly([2], { gpu_count: 128 })), [
    "llama3 70b fp8, 64 × gb200",
    "llama3 70b fp8, 128 × gb200",
  ]);
});

test("addresses name the configuration, the run, and the sides of a change", () => {
  const selection = { ...slowed, gpu_type: null };
  assert.equal(
    historyHref(selection),
    "/history?workload=pretrain_llama3&model_size=70b&dtype=fp8&gpu_count=64",
  );
  assert.match(historyHref(selection, "proxy"), /&gpu_count=64&include=proxy$/);
  assert.equal(runHistoryHref({ id: 7, workload: null }), "/history?run=7");
  assert.equal(
    sidesHref(slowed, 0, new URLSearchParams("window=20-30&without=checkpoint")),
    "/compare?window=20-30&without=checkpoint&base=1%2C2%2C3&base_name=before&candidate=4%2C5" +
      "&candidate_name=after",
  );
});

test("a page about one run has the answer's own word of why it does not count", () => {
  const left = (id: number): HistoryLeftOut => ({
    id,
    experiment: "x",
    path: "x/log.out",
    job_id: null,
    launched_at: null,
    marks: [{ mark: "traced", reason: "It is traced." }],
    reason: `run ${id} is traced`,
  });
  const repeated = weekly([2, 2], { left_out: [left(7)] });
  const single = weekly([3], { left_out: [left(8)] });
  const series = [repeated, single];
  const history = { method: "", older_runs_left_out: 0, unplaced: [left(9)], series };
  const of = (run: number) => historyOf(history, run);
  assert.deepEqual([of(7).series, of(7).unplaced], [[repeated], []]);
  assert.deepEqual([of(9).series, of(9).unplaced.map(({ id }) => id)], [[], [9]]);
  assert.equal(leftOutEntry(history, 7)?.reason, "run 7 is traced");
  assert.equal(leftOutEntry(history, 9)?.reason, "run 9 is traced");
  assert.equal(leftOutEntry(history, 1), null, "it counts");
  assert.equal(leftOutEntry(history, 10), null, "there is no word of it");
  assert.deepEqual(sectionlessLeftOut(history).map(({ id }) => id), [8, 9]);
});

test("a zoom shows what lies within it, and cuts levels at its edges", () => {
  const all = historyPlot(slowed);
  assert.ok(all);
  const part = within(all, { min: 0.2, max: 0.8 });
  assert.deepEqual(
    part.points.map(({ run }) => run.id),
    [2, 3, 4],
  );
  assert.deepEqual(part.levels, [
    { from: 0.2, to: 0.5, value: 2, endValue: 2 },
    { from: 0.75, to: 0.8, value: 2.1, endValue: 2.1 },
  ]);
  assert.deepEqual(part.marks.length, 1);
  assert.deepEqual(part.range, all.range);
  const zoomedTo = startTicks(slowed.runs, 5, "utc", { min: 0.25, max: 0.5 });
  assert.deepEqual(
    zoomedTo.map(({ label }) => label),
    ["2025-10-09", "2025-10-11", "2025-10-13", "2025-10-15"],
  );
});

test("a drag zooms into what is shown, in either direction, and a click does not", () => {
  assert.deepEqual(zoomed({ min: 0, max: 1 }, 0.75, 0.25), { min: 0.25, max: 0.75 });
  assert.deepEqual(zoomed({ min: 0.5, max: 1 }, 0, 0.5), { min: 0.5, max: 0.75 });
  assert.deepEqual(zoomed({ min: 0, max: 1 }, 0.5, 0.51), { min: 0, max: 1 });
  const tiny = { min: 0.5, max: 0.51 };
  assert.deepEqual(zoomed(tiny, 0.2, 0.4), tiny, "an axis can be read at any zoom");
  assert.deepEqual(partOf({ min: 10, max: 20 }, { min: 0.25, max: 0.5 }), { min: 12.5, max: 15 });
  assert.equal(shareIn({ min: 10, max: 20 }, 12.5), 0.25);
});

test("the pointer is at the nearest point, and at none where there is none", () => {
  assert.equal(nearestOf([10, 40, 20], 24), 2);
  assert.equal(nearestOf([10], 500), 0);
  assert.equal(nearestOf([], 5), null);
});
