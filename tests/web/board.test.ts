// How the board judges a cell, and which of several published results it takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PublishedStanding, Scaling } from "../../web/src/api/types";
import {
  boardTable,
  gpusOf,
  launchTimes,
  otherwiseOf,
  stateText,
  submitCommand,
  unpublished,
} from "../../web/src/state/board";
import { judge, kStateWords, standingWords } from "../../web/src/state/standing";
import { joined, measured, ofOne, reference, scaling, standing } from "./board_answers";

test("a cell is judged by the one-sided bounds of its speed, and by nothing else", () => {
  assert.equal(judge(standing(1.0, 0.97), 3).state, "met");
  assert.equal(judge(standing(0.97, 0.95), 3).state, "met");
  assert.equal(judge(standing(0.97, 0.949), 3).state, "undecided");
  assert.equal(judge(standing(0.94, 0.92), 3).state, "undecided");
  assert.equal(judge(standing(0.94, 0.935), 3).state, "near");
  assert.equal(judge(standing(0.9, 0.88), 3).state, "below");
});

test("one run decides where the noise between runs is known to be small", () => {
  const met = judge(standing(1.02, 1.01), 1);
  assert.equal(met.state, "met");
  assert.match(met.words, /^1 run, 2\.0 % faster than published; above 1\.010 × with 95 %/);
  assert.equal(judge(standing(1.02, 0.9), 1).state, "undecided");
  assert.equal(judge(standing(0.9, 0.89), 1).state, "below");
  assert.equal(judge(standing(1.02, null), 1).state, "undecided");
});

test("an open cell says about how many runs would decide it", () => {
  // Two runs whose bounds are nearly twice as far away as the line: eight would do.
  const far = judge(standing(0.95 * Math.exp(0.01), 0.95 * Math.exp(-0.0095)), 2);
  assert.equal(far.repeats, 6);
  assert.match(far.words, /About 6 more runs would decide\.$/);
  const close = judge(standing(0.95 * Math.exp(0.01), 0.95 * Math.exp(-0.001)), 2);
  assert.match(close.words, /About 1 more run would decide\.$/);
  const open = judge(standing(0.95, 0.9), 2);
  assert.equal(open.repeats, 8);
  assert.match(open.words, /8 more runs or more would decide\.$/);
});

test("the published speed is reached, missed or open, with its bounds", () => {
  const bounds = { speed_low: 0.9991, speed_high: 1.009, line: 0.9982 };
  assert.equal(
    standingWords(standing(1.004, null, { verdict: "reached", ...bounds })),
    "reached: 1.004 ×, above 0.9991 × with 95 % confidence; from 0.9982 × on it prints alike",
  );
  assert.match(
    standingWords(standing(1.004, null, bounds)),
    /above 0\.9991 × and below 1\.009 ×, each with/,
  );
  assert.match(
    standingWords(standing(1.004, null, { verdict: "not_reached", ...bounds })),
    /below 1\.009 ×/,
  );
});

test("a speed may meet the aim and not reach the published one: the words are never the same", () => {
  const slower = standing(0.976, 0.97, { verdict: "not_reached", line: 0.9999 });
  const { state, words } = judge(slower, 2);
  assert.equal(state, "met");
  assert.match(words, /above 0\.9700 × with 95 % confidence, which meets the aim of 0\.95 ×\.$/);
  assert.match(standingWords(slower), /^not reached: 0\.9760 ×, below 0\.982/);
  assert.ok(Object.values(kStateWords).every((word) => !word.includes("reached")));
  const table = boardTable(ofOne([reference({})], scaling(slower, null)), () => false);
  const inTable = (head: string) => table.rows[0]?.[table.heads.indexOf(head)];
  const reached = inTable("whether the published speed is reached");
  assert.deepEqual([inTable("state"), reached], ["aim met", "not reached"]);
});

const stateOf = (answers: Scaling) => ofOne([reference({})], answers)[0]?.cells[0]?.state;

test("a workload is one, with its prefix or without", () => {
  const cell = ofOne([reference({})], scaling(standing(1, 0.97), null))[0]?.cells[0];
  assert.equal(cell?.state, "met");
  assert.deepEqual(cell?.runs, [7]);
});

// Another environment beside the first, of three runs.
function inTwoEnvironments(launchedAt: string, stands: PublishedStanding): Scaling {
  const answers = scaling(standing(1, 0.97), null);
  const [series] = answers.series;
  assert.ok(series);
  series.differences = [
    { key: "framework_version", value: "25.07" },
    { key: "nodes", value: "same" },
  ];
  const [other] = scaling(stands, null).series;
  const point = other?.points[0];
  const run = point?.runs[0];
  assert.ok(other && point && run);
  other.differences = [
    { key: "framework_version", value: "25.08" },
    { key: "nodes", value: "same" },
  ];
  point.runs = [21, 22, 23].map((id) => ({ ...run, id, launched_at: launchedAt }));
  point.tokens_per_s_per_gpu.run_count = 3;
  answers.series.push(other);
  return answers;
}

test("the environment that was measured last decides a cell, and an earlier one is named", () => {
  const slow = standing(0.87, 0.865);
  const cellAt = (launchedAt: string) => {
    const [row] = ofOne([reference({})], inTwoEnvironments(launchedAt, slow));
    assert.ok(row?.cells[0]);
    return { cell: row.cells[0], table: boardTable([row], () => false) };
  };
  const slower = cellAt("2026-05-01T08:00:00Z");
  assert.deepEqual([slower.cell.state, slower.cell.runs], ["below", [21, 22, 23]]);
  assert.match(
    slower.cell.words,
    / Of an earlier environment, and not counted: 1 run with framework version 25\.07, the newest of 2026-02-01: aim met\.$/,
  );
  assert.equal(slower.table.rows[0]?.[slower.table.heads.indexOf("earlier environments")], "aim met");
  // More runs do not outweigh newer ones.
  const former = cellAt("2025-05-01T08:00:00Z").cell;
  assert.deepEqual([former.state, former.runs], ["met", [7]]);
  assert.deepEqual(
    former.variants.map(({ name, state, runCount }) => [name, state, runCount]),
    [["framework version 25.08", "below", 3]],
  );
});

test("an earlier environment that agrees is no disagreement", () => {
  const answers = inTwoEnvironments("2026-05-01T08:00:00Z", standing(1, 0.98));
  const cell = ofOne([reference({})], answers)[0]?.cells[0];
  assert.equal(cell?.state, "met");
  assert.ok(!cell.words.includes("earlier"));
  assert.equal(otherwiseOf(cell), "");
});

test("a cell counts all of its runs, and names and dates those that the answer names", () => {
  const answers = scaling(standing(1, 0.97), "profiled");
  const point = answers.series[0]?.points[0];
  assert.ok(point);
  point.tokens_per_s_per_gpu.run_count = 40;
  const cell = ofOne([reference({})], answers)[0]?.cells[0];
  assert.deepEqual([cell?.runs, cell?.runCount], [[7], 40]);
  assert.deepEqual([cell?.others, cell?.otherCount], [[9], 30]);
  assert.deepEqual([cell?.profiled, cell?.profiledCount], [[9], 30]);
  assert.deepEqual(
    [...launchTimes(answers)],
    [
      [7, "2026-02-01T08:00:00Z"],
      [9, "2026-03-01T08:00:00Z"],
    ],
  );
});

test("a copy of a run that counts is no profiled run beside it", () => {
  const answers = scaling(standing(1, 0.97), "profiled");
  const [series] = answers.series;
  assert.ok(series?.left_out[0] && series.left_out_groups[0]);
  series.left_out[0].copy_of = 7;
  series.left_out_groups[0].are_copies = true;
  const cell = ofOne([reference({})], answers)[0]?.cells[0];
  assert.deepEqual([cell?.others, cell?.otherCount], [[9], 30]);
  assert.deepEqual([cell?.profiled, cell?.profiledCount], [[], 0]);
  assert.equal(cell?.otherReasons.get(9), "a copy of run 7");
  assert.match(cell?.words ?? "", /30 runs that do not count: with the bytes of a run that counts\.$/);
});

test("a judged cell says why further runs do not count, and which failed since", () => {
  const answers = scaling(standing(1, 0.97), "failed");
  const cell = ofOne([reference({})], answers)[0]?.cells[0];
  assert.equal(cell?.state, "met");
  assert.equal(cell?.otherReasons.get(9), "failed");
  assert.match(cell.words, /30 runs that do not count: failed\. The newest of .* is run 9, failed: /);
  const [run] = answers.series[0]?.left_out ?? [];
  assert.ok(run);
  run.launched_at = "2026-01-01T08:00:00Z"; // before those that count
  assert.doesNotMatch(ofOne([reference({})], answers)[0]?.cells[0]?.words ?? "", /The newest of/);
});

test("a run that nothing marks says what it lacks, and a cell whether a run of it ended badly", () => {
  const answers = scaling(standing(1, 0.97), "failed");
  const cellOf = () => ofOne([reference({})], answers)[0]?.cells[0];
  assert.equal(cellOf()?.endedBadly, true);
  const [series] = answers.series;
  assert.ok(series?.left_out[0] && series.left_out_groups[0]);
  series.left_out[0].marks = [];
  series.left_out[0].reason = "Its global batch size is not known.";
  series.left_out_groups[0].marks = [];
  assert.equal(cellOf()?.otherReasons.get(9), "Its global batch size is not known");
  assert.equal(cellOf()?.endedBadly, false);
});

test("a run under way is told beside what those before it made of the cell", () => {
  const under = (stands: PublishedStanding | null) => {
    const answers = scaling(stands, null);
    const group = { gpu_count: 512, marks: ["running"], are_copies: false, run_count: 1 };
    answers.series[0]?.left_out_groups.push(group);
    return ofOne([reference({})], answers);
  };
  const rows = under(standing(1, 0.97));
  const cell = rows[0]?.cells[0];
  assert.deepEqual([cell?.state, cell?.isRunning], ["met", true]);
  assert.equal(cell && stateText(cell), "aim met, running");
  const table = boardTable(rows, () => true);
  assert.equal(table.rows[0]?.[table.heads.indexOf("state")], "aim met, running, stale");
  const alone = under(null)[0]?.cells[0];
  assert.deepEqual([alone?.state, alone?.isRunning], ["running", true]);
  assert.equal(alone?.words, "A run is under way.");
  assert.equal(alone && stateText(alone), "running");
  const none = ofOne([reference({})], scaling(standing(1, 0.97), null))[0]?.cells[0];
  assert.equal(none?.isRunning, false);
});

test("runs that do not count leave a cell failed or missing", () => {
  assert.equal(stateOf(scaling(null, "failed")), "failed");
  const failed = ofOne([reference({})], scaling(null, "failed"))[0]?.cells[0];
  assert.equal(
    failed?.words,
    "30 runs that do not count: failed. The newest of those that ended badly is run 9, " +
      "failed: all is lost.",
  );
  assert.equal(stateOf(scaling(null, "profiled")), "missing");
  assert.equal(stateOf(scaling(null, null)), "missing");
  assert.equal(stateOf(scaling(standing(0.9, 0.89), "failed")), "below");
});

test("the newest run that ended badly says whether a cell failed or is invalid, and why", () => {
  const answers = scaling(null, "failed");
  const [first] = answers.series[0]?.left_out ?? [];
  assert.ok(first);
  const invalid = [{ mark: "invalid" as const, reason: "invalid: The loss of step 12 is NaN." }];
  const withRun = (id: number, launched_at: string | null, marks = invalid) => {
    answers.series[0]?.left_out.splice(0, Infinity, first, { ...first, id, launched_at, marks });
    return ofOne([reference({})], answers)[0]?.cells[0];
  };
  const newer = withRun(10, "2026-04-01T08:00:00Z");
  assert.equal(newer?.state, "invalid");
  assert.match(newer.words, / is run 10, invalid: The loss of step 12 is NaN\.$/);
  assert.equal(withRun(10, "2026-01-01T08:00:00Z")?.state, "failed");
  assert.equal(withRun(10, null)?.state, "invalid"); // as old as the other, by the log's growth
  assert.equal(withRun(8, null)?.state, "failed");
  assert.equal(stateOf(scaling(null, "invalid")), "invalid");
  assert.equal(stateOf(scaling(null, "incomplete")), "incomplete", "as its run is called");
  assert.equal(stateOf(scaling(standing(1, 0.97), "invalid")), "met");
});

test("runs that do not count are told by why, each kind with its number", () => {
  const answers = scaling(null, "failed");
  answers.series[0]?.left_out_groups.push(
    { gpu_count: 512, marks: ["profiled"], are_copies: false, run_count: 1 },
    { gpu_count: 512, marks: ["proxy"], are_copies: false, run_count: 7 }, // of another result, were there one
    { gpu_count: 512, marks: [], are_copies: true, run_count: 2 },
  );
  const cell = ofOne([reference({})], answers)[0]?.cells[0];
  const kinds = "33 runs that do not count: 30 failed, 1 profiled, 2 with the bytes of a run that counts. ";
  assert.ok(cell?.words.startsWith(kinds));
  const profiled = ofOne([reference({})], scaling(null, "profiled"))[0]?.cells[0];
  assert.equal(profiled?.words, "30 runs that do not count: profiled.");
  assert.equal(profiled?.repeats, 3);
});

test("a published proxy is met by proxies alone, and a model's result by whole models", () => {
  const both = [reference({}), reference({ is_proxy: true, step_time_s: 9 })];
  const answers = scaling(standing(1, 0.97), "profiled");
  const [series] = answers.series;
  assert.ok(series);
  series.marks = ["proxy"];
  series.left_out_groups = [{ gpu_count: 512, marks: ["profiled", "proxy"], are_copies: false, run_count: 2 }];
  const cells = ofOne(both, answers)[0]?.cells ?? [];
  assert.deepEqual(
    cells.map((cell) => [gpusOf(cell), cell.state, cell.runs, cell.profiledCount]),
    [
      ["512 GPUs, proxy", "met", [7], 2],
      ["512 GPUs", "missing", [], 0],
    ],
  );
  assert.equal(boardTable(ofOne(both, answers), () => false).rows[0]?.[0], "grok1 314b bf16, proxy");
});

test("a result whose recipe the catalog lacks waits for no run, and says why", () => {
  const published = reference({ has_recipe: false, document: null, release: "25.04" });
  const cell = ofOne([published], scaling(null, null))[0]?.cells[0];
  assert.deepEqual([cell?.state, cell?.repeats], ["unjudged", 0]);
  assert.match(cell?.words ?? "", /^No run can be held against it: .* release 25\.04/);
  const answers = scaling(standing(1, 0.97), null);
  const point = answers.series[0]?.points[0];
  assert.ok(point);
  point.published_standing = null;
  const measured = ofOne([published], answers)[0]?.cells[0];
  assert.deepEqual([measured?.others, measured?.otherCount], [[7], 1]);
  assert.match(measured?.words ?? "", /1 run that does not count: of no recipe/);
});

test("what is measured without a published result is listed by the board's own filters", () => {
  const answers = scaling(standing(1, 0.97), null);
  const point = answers.series[0]?.points[0];
  assert.ok(point);
  point.published_standing = null;
  const listed = (workload: string, gpuType: string) =>
    unpublished([{ cluster: null, scaling: answers }], { workload, gpuType });
  assert.deepEqual(listed("", ""), ["grok1 314b bf16, 512 × h100"]);
  assert.equal(listed("pretrain_grok1", "h100").length, 1);
  assert.deepEqual([listed("llama3.1", ""), listed("", "gb200")], [[], []]);
});

test("measured entries of one name say in what they differ, and stand once where in nothing", () => {
  const answers = joined(measured("bf16", 1), measured("bf16", 2), measured("bf16", 3));
  for (const { points } of answers.series) for (const point of points) point.published_standing = null;
  const [first, second] = answers.series;
  assert.ok(first && second);
  first.differences = [
    { key: "release", value: "26.02" },
    { key: "window", value: "11-44" },
  ];
  second.differences = [
    { key: "release", value: "25.10" },
    { key: "window", value: "11-44" },
  ];
  const listed = (series: Scaling["series"]) =>
    unpublished([{ cluster: null, scaling: { ...answers, series } }], { workload: "", gpuType: "" });
  assert.deepEqual(listed(answers.series.slice(0, 2)), [
    "grok1 314b bf16, 512 × h100: release 26.02",
    "grok1 314b bf16, 512 × h100: release 25.10",
  ]);
  assert.deepEqual(listed([answers.series[2], answers.series[2]].flatMap((one) => one ?? [])), [
    "grok1 314b bf16, 512 × h100",
  ]);
  const named = unpublished([{ cluster: "eos", scaling: answers }], { workload: "", gpuType: "" });
  assert.match(named[0] ?? "", /^grok1 314b bf16, 512 × h100, eos: release/);
});

test("of several published results the one with a recipe counts, then the newest", () => {
  const rows = ofOne(
    [
      reference({ has_recipe: false, release: "25.02", step_time_s: 30 }),
      reference({}),
      reference({ gpu_count: 64, document: null, release: "24.11.1" }),
      reference({ gpu_count: 64, document: null, release: "25.02", step_time_s: 31 }),
      reference({ gpu_count: 128, step_time_s: null }),
    ],
    scaling(null, null),
  );
  const cells = rows.flatMap((row) => row.cells);
  assert.deepEqual(cells.map((cell) => cell.reference.step_time_s).sort(), [20.83, 31]);
});

test("a missing cell says the command that would fill it", () => {
  const cell = ofOne([reference({})], scaling(null, null))[0]?.cells[0];
  assert.ok(cell);
  assert.equal(
    submitCommand(cell),
    "llmb-report submit -w pretrain_grok1 -s 314b --dtype bf16 --gpu-type h100 --scale 512 -r 3",
  );
});

test("the board as a table has a row for each cell, as wide as its head", () => {
  const table = boardTable(ofOne([reference({})], scaling(null, null)), () => true);
  assert.equal(table.rows.length, 1);
  assert.equal(table.rows[0]?.length, table.heads.length);
  assert.equal(table.rows[0]?.[4], "missing, stale");
  const answers = scaling(standing(1, 0.97), null);
  const measured = boardTable(ofOne([reference({})], answers), () => false);
  assert.deepEqual(measured.rows[0]?.slice(4, 8), ["aim met", "1.0000", "0.9700", "not decided"]);
});

// fp8 is published, and a run that says which kind of it is held against that.
function measuredKind(dtype: string, id: number, gpus: number): Scaling {
  const answers = measured(dtype, id);
  const [series] = answers.series;
  const [point] = series?.points ?? [];
  assert.ok(series && point);
  point.gpu_count = gpus;
  series.published = kScales.map((gpu_count) => ({
    gpu_count,
    tokens_per_s_per_gpu: 100,
    global_batch_size: 1024,
    scaling: "baseline" as const,
    efficiency: 1,
    reference: reference({ dtype: "fp8", gpu_count }),
  }));
  return answers;
}

const kScales = [128, 512];
const kPublishedFp8 = kScales.map((gpu_count) => reference({ dtype: "fp8", gpu_count }));
const cellsOf = (...all: Scaling[]) =>
  ofOne(kPublishedFp8, joined(...all)).map(({ name, cells }) => [
    name,
    ...cells.map((cell) => `${cell.reference.gpu_count} ${cell.runs.join()}`),
  ]);

test("runs of a kind of fp8 have a row of their own, and hide none of fp8", () => {
  assert.deepEqual(cellsOf(measuredKind("fp8", 1, 512), measuredKind("fp8_mx", 2, 128)), [
    ["grok1 314b fp8", "128 ", "512 1"],
    ["grok1 314b fp8_mx", "128 2", "512 "],
  ]);
});

test("where all that was run is a kind of fp8 its row holds the published results", () => {
  assert.deepEqual(cellsOf(measuredKind("fp8_mx", 2, 128)), [["grok1 314b fp8_mx", "128 2", "512 "]]);
  assert.deepEqual(cellsOf(), [["grok1 314b fp8", "128 ", "512 "]]);
});

test("a scale that the kind's own document does not publish stays in the row of fp8", () => {
  const other = reference({ dtype: "fp8", gpu_count: 1024, document: "grok1-25.05" });
  const rows = ofOne([...kPublishedFp8, other], measuredKind("fp8_mx", 2, 128));
  assert.deepEqual(
    rows.map(({ name, documents, cells }) => [name, documents, cells.map((cell) => cell.reference.gpu_count)]),
    [
      ["grok1 314b fp8", ["grok1-25.05"], [1024]],
      ["grok1 314b fp8_mx", ["grok1-24.11"], [128, 512]],
    ],
  );
});
