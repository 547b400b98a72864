// The sides of a comparison in a URL, and the commands that launch a configuration again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ComparedRun, Comparison, GroupComparison, RunGroup } from "../../web/src/api/types";
import { originWords, tellingWords } from "../../web/src/alike_runs";
import {
  barredText,
  groupStandingWords,
  loneWords,
  markWordsOf,
  obstaclesTitle,
  publishedOver,
  publishedWords,
  windowTouches,
} from "../../web/src/compared_words";
import { readSides, sidesComplaints, sidesQuery, type Sides } from "../../web/src/state/sides";
import { submitCommandOf } from "../../web/src/state/submit_command";
import { kPublicNoise } from "./board_answers";

const sidesOf = (text: string) => readSides(new URLSearchParams(text));

test("sides stand in the URL with their names, beside what the page measures over", () => {
  const sides: Sides = [
    { name: "old switch", runs: [3, 5] },
    { name: "", runs: [7] },
  ];
  const query = sidesQuery(sides, new URLSearchParams("runs=1,2&window=20-30"));
  assert.equal(query.toString(), "window=20-30&base=3%2C5&base_name=old+switch&candidate=7");
  assert.deepEqual(readSides(query), sides);
});

test("of several sides each has its name and its place", () => {
  const sides: Sides = [
    { name: "", runs: [3] },
    { name: "", runs: [5, 6] },
    { name: "new; switch", runs: [7] },
  ];
  const query = sidesQuery(sides, new URLSearchParams());
  assert.equal(query.get("candidate"), "5,6;7");
  assert.deepEqual(query.getAll("candidate_name"), ["", "new; switch"]);
  assert.deepEqual(readSides(query), sides);
  assert.deepEqual(sidesOf("base=1&candidate=2;3;2;4")?.map(({ runs }) => runs), [[1], [2], [3], [4]]);
  assert.equal(sidesOf("base=1&candidate=2;3;4;5;6;7;8;9;10")?.length, 8);
});

test("a side without runs is none, a run is of one side, and eight are all", () => {
  assert.equal(sidesOf("base=1,2"), null);
  assert.equal(sidesOf("base=1&candidate=1"), null);
  assert.equal(sidesOf("base=x&candidate=2"), null);
  assert.deepEqual(sidesOf("base=1,2&candidate=2,3")?.[1]?.runs, [3]);
  assert.equal(sidesOf("base=1,2,3,4,5&candidate=6,7,8,9,10")?.[1]?.runs.length, 3);
  assert.equal(sidesOf("base=1,2,3,4,5,6,7,8&candidate=9"), null);
});

test("what the sides of an address are compared without is told", () => {
  const told = (text: string) => sidesComplaints(new URLSearchParams(text));
  assert.deepEqual(told("base=1,2&candidate=3;4"), []);
  assert.deepEqual(told("runs=1,2,3,4,5,6,7,8,9"), []);
  assert.deepEqual(told("base=1,2,3,4,5&candidate=6,7,8,9,10"), [
    "The address names 10 runs, and a comparison takes 8: runs 9, 10 are left out.",
  ]);
  assert.match(told("base=1,2,3,4,5,6,7,8,9&candidate=10").join(), /names 10 runs.*, .* no two groups/);
  assert.deepEqual(told("base=284,282&candidate=282,340"), [
    "Run 282 is named in several groups, and counts in the first of them.",
  ]);
  assert.deepEqual(told("base=284&candidate=284"), [
    "Run 284 is named in several groups, and counts in the first of them.",
    "The address names no two groups that have a run each.",
  ]);
  assert.match(told("base=1").join(), /no two groups/);
});

test("a command quotes what a shell would take apart", () => {
  const launched = {
    workload: "pretrain_grok1",
    model_size: "314b; rm -rf x",
    dtype: "fp8",
    gpu_type: "gb200",
    gpu_count: 128,
  };
  assert.equal(
    submitCommandOf(launched, 2, [["NAME", "it's $HOME"]]),
    "llmb-report submit -w pretrain_grok1 -s '314b; rm -rf x' --dtype fp8 --gpu-type gb200 " +
      "--scale 128 -r 2 --env 'NAME=it'\\''s $HOME'",
  );
});

const estimate = { run_count: 1, mean: 2, stddev_sample: null, low: null, high: null, reason: null };

const comparedRun = (id: number, exclusion: string | null = null): ComparedRun => ({
  id,
  experiment: "x",
  job_id: null,
  path: "x",
  cluster: null,
  release: null,
  status: "complete",
  window: "11-44",
  window_interruptions: null,
  steps_left_out: 0,
  marks: [],
  exclusion,
  group: exclusion === null ? 0 : null,
  step_time_s_mean: 2,
  tokens_per_s_per_gpu: null,
  tflops_per_gpu_mean: null,
  published: {
    window: "11-44",
    window_source: "default",
    step_time_s_mean: 2,
    reference: null,
    speed_against_reference: null,
    reason: "No recipe has this configuration.",
  },
});

const comparedGroup = (group: number, run_ids: number[], name: string | null = null): RunGroup => ({
  group,
  name,
  experiment: "x",
  run_ids,
  metrics: { step_time_s: estimate, tokens_per_s_per_gpu: estimate, tflops_per_gpu: estimate },
  speed_against_reference: null,
  published_standing: null,
  published_reason: "No recipe has this configuration.",
});

const comparisonOf = (runs: ComparedRun[], groups: RunGroup[]): Comparison => ({
  method: "",
  confidence: 0.95,
  runs,
  groups,
  differences: [],
  comparisons: [],
  missing_sides: [],
});

test("two runs of which one is a copy are not comparable, and the reason is said", () => {
  const copy = comparedRun(4, "Its log has the same bytes as that of run 2.");
  const groups = [comparedGroup(0, [2])];
  assert.deepEqual(loneWords(comparisonOf([comparedRun(2), copy], groups)), [
    "Run 4 is left out. Its log has the same bytes as that of run 2.",
  ]);
  // A third run is there to be compared, but for the sides that somebody named.
  const three = [comparedRun(2), comparedRun(3), copy];
  assert.deepEqual(loneWords(comparisonOf(three, [comparedGroup(0, [2, 3])])), []);
  assert.equal(loneWords(comparisonOf(three, [comparedGroup(0, [2, 3], "base")])).length, 1);
  const both = [comparedGroup(0, [2]), comparedGroup(1, [3])];
  assert.deepEqual(loneWords(comparisonOf(three, both)), []);
  assert.deepEqual(loneWords(comparisonOf([copy], [])), []);
});

test("a named group that is not there is told, though others are", () => {
  const failed = comparedRun(4, "failed: it ended at iteration 20.");
  const other = comparedRun(5, "A profiler slowed the run.");
  const runs = [failed, comparedRun(2), other, comparedRun(3)];
  const groups = [comparedGroup(0, [2], "candidate 1"), comparedGroup(1, [3], "candidate 2")];
  const missing_sides = [{ name: "base", is_baseline: true, run_ids: [4], reason: "" }];
  const comparison = { ...comparisonOf(runs, groups), missing_sides };
  assert.deepEqual(loneWords(comparison), ["Run 4 is left out. failed: it ended at iteration 20."]);
  assert.equal(obstaclesTitle(comparison), "Not comparable");
});

const kEveryMetric = ["step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu"];

test("the title over obstacles names what they bar, and all only where it is all", () => {
  const barring = (group: number, ...all: string[][]) =>
    ({
      group,
      baseline: 0,
      obstacles: all.map((metrics) => ({ code: "different_window", text: "", metrics })),
    }) as unknown as GroupComparison;
  const titleOf = (...comparisons: GroupComparison[]) =>
    obstaclesTitle({ ...comparisonOf([], []), comparisons });
  assert.equal(titleOf(barring(1, kEveryMetric)), "Not comparable");
  assert.equal(titleOf(barring(1, ["tflops_per_gpu"])), "TFLOPS per GPU not comparable");
  assert.equal(
    titleOf(barring(1), barring(2, ["step_time_s"], ["tflops_per_gpu"], ["step_time_s"])),
    "Step time and TFLOPS per GPU not comparable",
  );
  assert.equal(titleOf(barring(1, kEveryMetric), barring(2)), "Not everything is comparable");
  assert.equal(barredText(["tflops_per_gpu"]), "(This bars TFLOPS per GPU only.)");
  assert.equal(barredText(kEveryMetric), "");
  const copy = comparedRun(4, "Its log has the same bytes as that of run 2.");
  const alone = comparisonOf([comparedRun(2), copy], [comparedGroup(0, [2])]);
  assert.equal(obstaclesTitle(alone), "Not comparable");
});

const kStanding = {
  verdict: "reached" as const,
  speed: 1.004,
  speed_low: 0.9991,
  speed_high: 1.009,
  line: 0.9982,
  confidence: 0.95,
  noise: kPublicNoise,
};

test("a run alone stands against its published result", () => {
  const run = comparedRun(59);
  const group = comparedGroup(0, [59]);
  assert.equal(publishedWords(run, group), "No recipe has this configuration.");
  assert.match(
    publishedWords(run, { ...group, published_standing: kStanding }),
    /^Published speed: reached: 1\.004 ×, above 0\.9991 × with 95 % confidence/,
  );
  assert.match(publishedWords(comparedRun(4, "It failed."), undefined), /does not count\. It failed\.$/);
});

test("a run's window says what lies in it, and how many steps do not count", () => {
  const touched = { ...comparedRun(1), window_interruptions: "checkpoint: 20; evaluation: 30" };
  assert.deepEqual(windowTouches(comparedRun(1)), []);
  assert.deepEqual(windowTouches(touched), ["in it checkpoint: 20; evaluation: 30"]);
  const words = ["in it checkpoint: 20; evaluation: 30", "without 1 step"];
  assert.deepEqual(windowTouches({ ...touched, steps_left_out: 1 }), words);
});

test("a run that has not reached its window is not called without data", () => {
  const marks: ComparedRun["marks"] = [
    { mark: "running", reason: "running: step 7 of 49" },
    { mark: "no_data", reason: "No step in the window 11-44 has a step time." },
  ];
  const running: ComparedRun = { ...comparedRun(1), status: "running", marks };
  assert.deepEqual(markWordsOf(running), ["running", "no step in 11-44"]);
  const empty: ComparedRun = { ...comparedRun(1), status: "no_data", marks: marks.slice(1) };
  assert.deepEqual(markWordsOf(empty), ["no data"]);
});

test("over what a run is held against its result is said where its row measures otherwise", () => {
  const run = comparedRun(1);
  const held = { ...run, published: { ...run.published, speed_against_reference: 1.01 } };
  assert.equal(publishedOver(held), "");
  assert.equal(publishedOver({ ...held, steps_left_out: 2 }), "over 11-44, every step");
  assert.equal(publishedOver({ ...held, window: "35-44" }), "over 11-44, every step");
  assert.equal(publishedOver({ ...run, steps_left_out: 2 }), "", "there is none");
});

test("of several groups each stands against its own published result, in the same words", () => {
  const reached = { ...comparedGroup(0, [2]), published_standing: kStanding };
  assert.match(groupStandingWords(reached), /^reached: 1\.004 ×, above 0\.9991 × with 95 %/);
  assert.equal(
    groupStandingWords(comparedGroup(1, [3, 4])),
    "No recipe has this configuration.",
  );
});

test("runs of one experiment and job are told apart by cluster, or else by id", () => {
  const ofJob = (id: number, job_id: number | null, cluster: string | null) => ({
    ...comparedRun(id),
    job_id,
    cluster,
  });
  const wordsOf = (...runs: ComparedRun[]) => [...tellingWords(runs)];
  const eos = ofJob(2, 900002, "eos");
  const polaris = ofJob(3, 900002, "polaris");
  assert.deepEqual(wordsOf(eos, polaris, ofJob(4, 900003, "eos")), [
    [2, "eos"],
    [3, "polaris"],
  ]);
  assert.deepEqual(wordsOf(eos, polaris, ofJob(5, 900002, "eos")), [
    [2, "eos, run 2"],
    [3, "polaris"],
    [5, "eos, run 5"],
  ]);
  assert.deepEqual(wordsOf(eos, ofJob(6, 900002, null)), [
    [2, "eos"],
    [6, "no cluster named"],
  ]);
  assert.deepEqual(wordsOf(ofJob(6, 1, null), ofJob(7, 1, null)), [
    [6, "run 6"],
    [7, "run 7"],
  ]);
  assert.deepEqual(wordsOf(eos, { ...polaris, experiment: "y" }), []);
});

test("runs of several clusters or releases say of which each is", () => {
  const of = (cluster: string | null, release: string | null) => ({
    ...comparedRun(1),
    cluster,
    release,
  });
  const alpha = of("alpha", "25.10");
  assert.equal(originWords(alpha, [alpha, of("alpha", "25.10")]), "");
  assert.equal(originWords(alpha, [alpha, of("beta", "25.10")]), "alpha");
  assert.equal(originWords(alpha, [alpha, of("alpha", "25.12")]), "release 25.10");
  const all = [alpha, of("beta", "25.12"), of(null, null)];
  const words = ["alpha · release 25.10", "beta · release 25.12"];
  assert.deepEqual(
    all.map((run) => originWords(run, all, " · ")),
    [...words, "no cluster named · no release stated"],
  );
});
