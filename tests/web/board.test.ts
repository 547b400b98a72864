// How the board judges a cell, and which of several published results it takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeanEstimate, PublishedStanding, Reference, Scaling } from "../../web/src/api/types";
import {
  boardRows,
  boardTable,
  gpusOf,
  launchTimes,
  submitCommand,
  unpublished,
} from "../../web/src/state/board";
import { judge, kStateWords, standingWords } from "../../web/src/state/standing";

const kNoise = {
  source: "public runs",
  stddev: 0.0007,
  degrees_of_freedom: 4,
  configuration_count: 0,
  run_count: 0,
  repeat_count: 0,
};

const rate = (mean: number): MeanEstimate => ({
  run_count: 1,
  mean,
  stddev_sample: null,
  low: null,
  high: null,
});

// Bounds as far from the speed, in logarithms, on either side.
const standing = (speed: number, low: number | null, changes = {}): PublishedStanding => ({
  verdict: "not_decided",
  speed,
  speed_low: low,
  speed_high: low === null ? null : (speed * speed) / low,
  line: 1,
  confidence: 0.95,
  noise: kNoise,
  ...changes,
});

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
  const table = boardTable(boardRows([reference({})], scaling(slower, null)), () => false);
  const inTable = (head: string) => table.rows[0]?.[table.heads.indexOf(head)];
  assert.deepEqual([inTable("state"), inTable("published speed")], ["aim met", "not reached"]);
});

const reference = (changes: Partial<Reference>): Reference => ({
  workload: "pretrain_grok1",
  model_size: "314b",
  dtype: "bf16",
  gpu_type: "h100",
  gpu_count: 512,
  release: "24.11",
  step_time_s: 20.83,
  tokens_per_s: null,
  mfu_percent: null,
  days_to_train_1t: null,
  document: "grok1-24.11",
  line: 33,
  column: 7,
  source: null,
  has_recipe: true,
  is_proxy: false,
  ...changes,
});

function scaling(stands: PublishedStanding | null, marks: "failed" | "profiled" | null): Scaling {
  const left = {
    id: 9,
    experiment: "x",
    job_id: null,
    path: "x",
    launched_at: null,
    grown_at: "2026-03-01T08:00:00Z",
    window: "11-44",
    gpu_count: 512,
    marks: marks ? [{ mark: marks, reason: "" }] : [],
    reason: "",
    copy_of: null as number | null,
  };
  return {
    method: "",
    confidence: 0.95,
    unplaced: [],
    unplaced_groups: [],
    older_runs_left_out: 0,
    series: [
      {
        workload: "grok1",
        model_size: "314b",
        dtype: "bf16",
        gpu_type: "h100",
        differences: [],
        scaling: "baseline",
        marks: [],
        document: null,
        published: [],
        left_out: marks ? [left] : [],
        left_out_groups: marks ? [{ gpu_count: 512, marks: [marks], are_copies: false, run_count: 30 }] : [],
        points: stands
          ? [
              {
                gpu_count: 512,
                global_batch_size: 1024,
                scaling: "baseline",
                differences: [],
                tokens_per_s_per_gpu: rate(100),
                efficiency: 1,
                efficiency_reason: null,
                speed_against_reference: rate(stands.speed ?? 0),
                published_standing: stands,
                runs: [
                  {
                    id: 7,
                    experiment: "x",
                    job_id: null,
                    path: "x",
                    launched_at: "2026-02-01T08:00:00Z",
                    grown_at: "2026-03-01T08:00:00Z",
                    window: "11-44",
                    tokens_per_s_per_gpu: 100,
                  },
                ],
              },
            ]
          : [],
      },
    ],
  };
}

const stateOf = (answers: Scaling) => boardRows([reference({})], answers)[0]?.cells[0]?.state;

test("a workload is one, with its prefix or without", () => {
  const cell = boardRows([reference({})], scaling(standing(1, 0.97), null))[0]?.cells[0];
  assert.equal(cell?.state, "met");
  assert.deepEqual(cell?.runs, [7]);
});

test("a cell counts all of its runs, and names and dates those that the answer names", () => {
  const answers = scaling(standing(1, 0.97), "profiled");
  const point = answers.series[0]?.points[0];
  assert.ok(point);
  point.tokens_per_s_per_gpu.run_count = 40;
  const cell = boardRows([reference({})], answers)[0]?.cells[0];
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
  const cell = boardRows([reference({})], answers)[0]?.cells[0];
  assert.deepEqual([cell?.others, cell?.otherCount], [[9], 30]);
  assert.deepEqual([cell?.profiled, cell?.profiledCount], [[], 0]);
});

test("runs that do not count leave a cell failed or missing", () => {
  assert.equal(stateOf(scaling(null, "failed")), "failed");
  const failed = boardRows([reference({})], scaling(null, "failed"))[0]?.cells[0];
  assert.equal(failed?.words, "30 runs that do not count: failed.");
  assert.equal(stateOf(scaling(null, "profiled")), "missing");
  assert.equal(stateOf(scaling(null, null)), "missing");
  assert.equal(stateOf(scaling(standing(0.9, 0.89), "failed")), "below");
});

test("runs that do not count are told by why, each kind with its number", () => {
  const answers = scaling(null, "failed");
  answers.series[0]?.left_out_groups.push(
    { gpu_count: 512, marks: ["profiled"], are_copies: false, run_count: 1 },
    { gpu_count: 512, marks: ["proxy"], are_copies: false, run_count: 7 }, // of another result, were there one
    { gpu_count: 512, marks: [], are_copies: true, run_count: 2 },
  );
  const cell = boardRows([reference({})], answers)[0]?.cells[0];
  assert.equal(cell?.words, "33 runs that do not count: 30 failed, 1 profiled, 2 copies of runs that count.");
  const profiled = boardRows([reference({})], scaling(null, "profiled"))[0]?.cells[0];
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
  const cells = boardRows(both, answers)[0]?.cells ?? [];
  assert.deepEqual(
    cells.map((cell) => [gpusOf(cell), cell.state, cell.runs, cell.profiledCount]),
    [
      ["512 GPUs, proxy", "met", [7], 2],
      ["512 GPUs", "missing", [], 0],
    ],
  );
  assert.equal(boardTable(boardRows(both, answers), () => false).rows[0]?.[0], "grok1 314b bf16, proxy");
});

test("a result whose recipe the catalog lacks waits for no run, and says why", () => {
  const published = reference({ has_recipe: false, document: null, release: "25.04" });
  const cell = boardRows([published], scaling(null, null))[0]?.cells[0];
  assert.deepEqual([cell?.state, cell?.repeats], ["unjudged", 0]);
  assert.match(cell?.words ?? "", /^No run can be held against it: .* release 25\.04/);
  const answers = scaling(standing(1, 0.97), null);
  const point = answers.series[0]?.points[0];
  assert.ok(point);
  point.published_standing = null;
  const measured = boardRows([published], answers)[0]?.cells[0];
  assert.deepEqual([measured?.others, measured?.otherCount], [[7], 1]);
  assert.match(measured?.words ?? "", /1 run that does not count: of no recipe/);
});

test("what is measured without a published result is listed by the board's own filters", () => {
  const answers = scaling(standing(1, 0.97), null);
  const point = answers.series[0]?.points[0];
  assert.ok(point);
  point.published_standing = null;
  const listed = (workload: string, gpuType: string) => unpublished(answers, { workload, gpuType });
  assert.deepEqual(listed("", ""), ["grok1 314b bf16, 512 × h100"]);
  assert.equal(listed("pretrain_grok1", "h100").length, 1);
  assert.deepEqual([listed("llama3.1", ""), listed("", "gb200")], [[], []]);
});

test("of several published results the one with a recipe counts, then the newest", () => {
  const rows = boardRows(
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
  const cell = boardRows([reference({})], scaling(null, null))[0]?.cells[0];
  assert.ok(cell);
  assert.equal(
    submitCommand(cell),
    "llmb-report submit -w pretrain_grok1 -s 314b --dtype bf16 --gpu-type h100 --scale 512 -r 3",
  );
});

test("the board as a table has a row for each cell, as wide as its head", () => {
  const table = boardTable(boardRows([reference({})], scaling(null, null)), () => true);
  assert.equal(table.rows.length, 1);
  assert.equal(table.rows[0]?.length, table.heads.length);
  assert.equal(table.rows[0]?.[4], "missing, stale");
  const answers = scaling(standing(1, 0.97), null);
  const measured = boardTable(boardRows([reference({})], answers), () => false);
  assert.deepEqual(measured.rows[0]?.slice(4, 8), ["aim met", "1.0000", "0.9700", "not decided"]);
});
