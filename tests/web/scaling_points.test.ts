// From a scaling series to the places of its points.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reference, ScalingPoint, ScalingSeries } from "../../web/src/api/types";
import {
  efficiencyAxis,
  efficiencyBases,
  efficiencyPlot,
  placeOf,
  roundUp,
  throughputPlot,
} from "../../web/src/chart/scaling_points";
import { scalingTable } from "../../web/src/chart/scaling_table";

function pointAt(gpus: number, mean: number | null, efficiency: number | null): ScalingPoint {
  const estimate = { run_count: 2, mean, stddev_sample: null, low: null, high: null };
  return {
    gpu_count: gpus,
    global_batch_size: 4 * gpus,
    scaling: "weak",
    differences: [],
    tokens_per_s_per_gpu: estimate,
    efficiency,
    efficiency_reason: null,
    speed_against_reference: null,
    runs: [],
  };
}

const reference: Reference = {
  workload: "pretrain_grok1",
  model_size: "314b",
  dtype: "bf16",
  gpu_type: "gb200",
  gpu_count: 256,
  release: "25.05",
  step_time_s: 14.78,
  tokens_per_s: null,
  mfu_percent: null,
  days_to_train_1t: null,
  document: "grok1-25.05",
  line: 1,
  column: 1,
  source: null,
  has_recipe: true,
  is_proxy: false,
};

const series: ScalingSeries = {
  workload: "pretrain_grok1",
  model_size: "314b",
  dtype: "bf16",
  gpu_type: "gb200",
  cluster: null,
  differences: [],
  scaling: "weak",
  marks: [],
  points: [pointAt(128, 2200, 1), pointAt(512, 2090, 0.95), pointAt(1024, null, null)],
  left_out: [],
  left_out_groups: [],
  document: "grok1-25.05",
  published: [
    {
      gpu_count: 256,
      global_batch_size: 1024,
      scaling: "weak",
      tokens_per_s_per_gpu: 2217,
      efficiency: 0.99,
      reference,
    },
  ],
};

test("every scale is on the axis once, measured or published", () => {
  const plot = throughputPlot(series);
  assert.deepEqual(plot.gpus, [128, 256, 512]);
  assert.deepEqual(
    plot.measured.map(({ gpus }) => gpus),
    [128, 512],
  );
  assert.equal(plot.ideal, 2200);
  assert.ok(plot.top >= 1.08 * 2217 && plot.top < 2 * 2217, String(plot.top));
});

test("efficiency is measured against a whole", () => {
  const plot = efficiencyPlot(series);
  assert.equal(plot.ideal, 1);
  assert.deepEqual(
    plot.measured.map(({ value }) => value),
    [1, 0.95],
  );
  assert.equal(plot.published[0]?.value, 0.99);
});

test("each efficiency is against the smallest scale of its own", () => {
  assert.deepEqual(efficiencyBases(series), { measured: 128, published: 256 });
  const none = { ...series, points: [], published: [] };
  assert.deepEqual(efficiencyBases(none), { measured: null, published: null });
});

test("doubling the GPUs is the same distance anywhere on the axis", () => {
  const axis = [128, 256, 512, 2048];
  assert.equal(placeOf(128, axis), 0);
  assert.equal(placeOf(2048, axis), 1);
  assert.ok(Math.abs(placeOf(256, axis) - 0.25) < 1e-12);
  assert.ok(Math.abs(placeOf(512, axis) - 0.5) < 1e-12);
  assert.equal(placeOf(64, [64]), 0.5);
});

test("an axis ends above its values, at a round number", () => {
  for (const value of [0.3, 1, 1.08, 7, 99, 2394, 123456]) {
    assert.ok(roundUp(value) >= value && roundUp(value) <= 2 * value, String(value));
  }
  assert.equal(roundUp(0), 1);
});

test("an axis of efficiencies begins near them and holds the whole", () => {
  for (const values of [
    [1, 0.97],
    [1, 0.5],
    [1.3, 1],
    [1, 0.02],
  ]) {
    const { bottom, top } = efficiencyAxis(values);
    assert.ok(bottom >= 0 && bottom <= Math.min(...values), String(values));
    assert.ok(top >= Math.max(...values), String(values));
  }
  assert.ok(efficiencyAxis([1, 0.97]).bottom >= 0.9);
});

test("its table has numbers for other programs: neither rounded nor grouped", () => {
  const point = pointAt(1024, 12_345.678_901, null);
  const estimate = { ...point.tokens_per_s_per_gpu, low: 12_000.25, high: 12_500.5 };
  const points = [{ ...point, tokens_per_s_per_gpu: estimate }];
  const { heads, rows } = scalingTable({ ...series, points, published: [] });
  assert.ok(rows.every((row) => row.length === heads.length));
  const [row] = rows;
  const at = (head: string) => row?.[heads.indexOf(head)];
  assert.equal(at("tokens/s/GPU"), "12345.678901");
  assert.deepEqual([at("95 % interval, low"), at("95 % interval, high")], ["12000.25", "12500.5"]);
  assert.equal(at("global batch"), "4096");
  assert.equal(at("against published"), "", "not known");
});
