// How the board judges a cell, and which of several published results it takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MeanEstimate, Reference, Scaling } from "../../web/src/api/types";
import {
  boardRows,
  boardTable,
  judge,
  standingWords,
  submitCommand,
} from "../../web/src/state/board";

const speed = (mean: number, low: number | null, high: number | null, runs = 3): MeanEstimate => ({
  run_count: runs,
  mean,
  stddev_sample: null,
  low,
  high,
});

test("a cell is reached by its lower bound, and decided by its interval", () => {
  assert.equal(judge(speed(1.0, 0.97, 1.03)).state, "reached");
  assert.equal(judge(speed(0.97, 0.93, 1.01)).state, "near");
  assert.equal(judge(speed(0.94, 0.92, 0.96)).state, "near");
  assert.equal(judge(speed(0.9, 0.88, 0.92)).state, "below");
});

test("one run alone decides nothing but that it is below", () => {
  const near = judge(speed(1.02, null, null, 1));
  assert.equal(near.state, "near");
  assert.match(near.words, /^One run, 2\.0 % faster than published\./);
  assert.equal(judge(speed(0.9, null, null, 1)).state, "below");
});

test("the published speed is reached, missed or open, with its bounds", () => {
  const bounds = { speed: 1.004, speed_low: 0.9991, speed_high: 1.009 };
  const standing = { ...bounds, line: 0.9982, confidence: 0.95 };
  const noise = {
    source: "public runs",
    stddev: 0.0007,
    degrees_of_freedom: 4,
    configuration_count: 0,
    run_count: 0,
  };
  assert.equal(
    standingWords({ verdict: "reached", ...standing, noise }),
    "reached: 1.004 ×, above 0.9991 × with 95 % confidence; from 0.9982 × on it prints alike",
  );
  assert.match(
    standingWords({ verdict: "not_decided", ...standing, noise }),
    /above 0\.9991 × and below 1\.009 ×, each with/,
  );
  assert.match(standingWords({ verdict: "not_reached", ...standing, noise }), /below 1\.009 ×/);
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
  ...changes,
});

function scaling(speedOf: MeanEstimate | null, marks: "failed" | "profiled" | null): Scaling {
  const left = {
    id: 9,
    experiment: "x",
    job_id: null,
    path: "x",
    window: "11-44",
    gpu_count: 512,
    marks: marks ? [{ mark: marks, reason: "" }] : [],
    reason: "",
  };
  return {
    method: "",
    confidence: 0.95,
    unplaced: [],
    series: [
      {
        workload: "grok1",
        model_size: "314b",
        dtype: "bf16",
        gpu_type: "h100",
        differences: [],
        scaling: "baseline",
        document: null,
        published: [],
        left_out: marks ? [left] : [],
        points: speedOf
          ? [
              {
                gpu_count: 512,
                global_batch_size: 1024,
                scaling: "baseline",
                differences: [],
                tokens_per_s_per_gpu: speed(100, null, null),
                efficiency: 1,
                efficiency_reason: null,
                speed_against_reference: speedOf,
                runs: [
                  {
                    id: 7,
                    experiment: "x",
                    job_id: null,
                    path: "x",
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
  const cell = boardRows([reference({})], scaling(speed(1, 0.97, 1.03), null))[0]?.cells[0];
  assert.equal(cell?.state, "reached");
  assert.deepEqual(cell?.runs, [7]);
});

test("runs that do not count leave a cell failed or missing", () => {
  assert.equal(stateOf(scaling(null, "failed")), "failed");
  assert.equal(stateOf(scaling(null, "profiled")), "missing");
  assert.equal(stateOf(scaling(null, null)), "missing");
  assert.equal(stateOf(scaling(speed(0.9, 0.89, 0.91), "failed")), "below");
});

test("of several published results the known document's counts, then the newest", () => {
  const rows = boardRows(
    [
      reference({ document: null, release: "25.02", step_time_s: 30 }),
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
});
