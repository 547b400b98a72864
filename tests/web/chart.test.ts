// The scale that a slow first step cannot spoil, and the series of logs with restarts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunInsight, Steps } from "../../web/src/api/types";
import {
  distributionOf,
  distributionRange,
  offScaleCount,
  shareWithin,
  spreadOf,
} from "../../web/src/chart/distributions";
import { panned, scaledBy } from "../../web/src/chart/pan_zoom";
import { fullRange, isOffScale, offScaleWords, steadyRange } from "../../web/src/chart/scale";
import { allValues, chartSeries, hasValues, windowValues } from "../../web/src/chart/series";
import { nanRows, nanSentences, nanWords } from "../../web/src/chart/nan_steps";
import { interruptionSentences, marksOf } from "../../web/src/chart/step_marks";

const steady = Array.from({ length: 40 }, (_, i) => 7.38 + 0.01 * (i % 3));

test("a first step 56 times as slow is off the scale, the steady ones are on it", () => {
  const all = [7.38 * 56, 7.38 * 1.7, ...steady];
  const range = steadyRange(all, steady);
  assert.ok(range);
  assert.ok(range.max < 8, `max is ${range.max}`);
  assert.ok(range.min > 7, `min is ${range.min}`);
  assert.deepEqual(
    all.map((value) => isOffScale(value, range)),
    all.map((_, i) => i < 2),
  );
});

test("steps off the scale are counted above and below it apart", () => {
  const range = steadyRange(steady, steady);
  assert.equal(
    offScaleWords([413, 1, null, 70, ...steady], range),
    "▲ 2 steps above, ▼ 1 step below the scale",
  );
  assert.equal(offScaleWords([413, ...steady], range), "▲ 1 step above the scale");
  assert.equal(offScaleWords([1, 2, ...steady], range), "▼ 2 steps below the scale");
  assert.equal(offScaleWords(steady, range), "");
  assert.equal(offScaleWords([1], null), "");
});

test("steps that are NaN or infinite are named where the segment's count agrees", () => {
  const steps = {
    segment: [0, 0, 0, 0, 1, 1],
    iteration: [1, 2, 3, 4, 3, 4],
    loss: [9, null, 8, 7, 6, 5],
    grad_norm: [1, 1, null, 1, null, 1],
  } as unknown as Steps;
  const segment = (at: number, count: number) => ({
    segment: at,
    first_iteration: 1,
    last_iteration: 4,
    step_count: 4,
    nan_step_count: count,
  });
  const all = [segment(0, 2), segment(1, 0)];
  const nan = nanRows(steps, all);
  assert.deepEqual([[...nan.loss], [...nan.grad_norm]], [[1], [2]]);
  assert.deepEqual(nanSentences(steps, all, nan), [
    "2 steps have a loss that is NaN or infinite, " +
      "or a gradient norm that is NaN (iterations 2, 3).",
  ]);
  assert.deepEqual(
    [nanWords(nan, "loss", 1), nanWords(nan, "grad_norm", 2), nanWords(nan, "loss", 0)],
    ["NaN or infinite", "NaN", null],
  );
  const unsure = nanRows(steps, [segment(0, 1)]);
  assert.deepEqual([unsure.loss.size, unsure.grad_norm.size], [0, 0], "either might be the one");
  const rare = { ...steps, grad_norm: [1, null, null, null, 1, 1] };
  assert.deepEqual([...nanRows(rare, [segment(0, 1)]).loss], [1]);
  const words = nanSentences(steps, [segment(0, 1)], unsure);
  assert.deepEqual(words, [
    "1 step has a loss that is NaN or infinite, or a gradient norm that is NaN.",
  ]);
  assert.deepEqual(nanSentences(steps, [segment(0, 0)], unsure), []);
});

test("the full scale holds everything", () => {
  const all = [7.38 * 56, ...steady, null];
  const range = fullRange(all);
  assert.ok(all.every((value) => !isOffScale(value, range)));
});

test("a step slower by a twentieth is on the scale", () => {
  const all = [...steady, 7.38 * 1.05];
  assert.equal(isOffScale(7.38 * 1.05, steadyRange(all, steady)), false);
});

test("steps before the window are shown though nothing of it is there yet", () => {
  const range = steadyRange([413, 7.4, 7.39, 7.41, 7.4], []);
  assert.ok(range && range.max < 10 && range.min > 5);
});

test("equal values get a span, and no values get none", () => {
  const range = steadyRange([5, 5, 5, 5, 5], []);
  assert.ok(range && range.max > 5 && range.min < 5);
  assert.equal(steadyRange([null, null], []), null);
  assert.equal(fullRange([]), null);
  assert.equal(isOffScale(3, null), false);
});

const restarted: Steps = {
  run_id: 1,
  segment: [0, 0, 0, 1, 1, 1],
  iteration: [0, 1, 2, 1, 2, 3],
  step_time_s: [9, 2, 2.1, 3, null, 3.1],
  tflops_per_gpu: [null, null, null, null, null, null],
  extra_fields: {},
  extra_values_left_out: 0,
};

test("segments share one axis, and the one that counts is drawn last", () => {
  const series = chartSeries(restarted, "step_time_s", 0);
  assert.deepEqual(series.iterations, [0, 1, 2, 3]);
  assert.deepEqual(
    series.segments.map(({ segment, counts }) => [segment, counts]),
    [
      [1, false],
      [0, true],
    ],
  );
  assert.deepEqual(series.segments[0]?.values, [null, 3, null, 3.1]);
  assert.deepEqual(series.segments[1]?.values, [9, 2, 2.1, null]);
});

test("of ten thousand passes the newest are drawn, and the one that counts", () => {
  const rows = Array.from({ length: 20_000 }, (_, row) => row);
  const steps = {
    segment: rows.map((row) => Math.floor(row / 2)),
    iteration: rows.map((row) => row % 2),
    step_time_s: rows,
  } as unknown as Steps;
  const series = chartSeries(steps, "step_time_s", 7);
  assert.equal(series.segments.length, 257);
  assert.deepEqual(series.segments.at(-1), { segment: 7, counts: true, values: [14, 15] });
  assert.equal(series.segments.at(-2)?.segment, 9_999);
  assert.equal(series.segments[0]?.segment, 10_000 - 256);
});

test("the window's values are those of the segment that counts", () => {
  const series = chartSeries(restarted, "step_time_s", 1);
  assert.deepEqual(windowValues(series, { first: 1, last: 2 }), [3, null]);
  assert.deepEqual(windowValues(series, null), []);
  assert.equal(allValues(series).length, 8);
});

test("a metric that the log never prints is known to be absent", () => {
  assert.equal(hasValues(chartSeries(restarted, "tflops_per_gpu", 1)), false);
  assert.equal(hasValues(chartSeries(restarted, "step_time_s", 1)), true);
});

const stepsOf = (times: (number | null)[], iteration = times.map((_, at) => at)) =>
  ({ iteration, step_time_s: times }) as unknown as Steps;

test("a distribution holds the steps of the window, a repeated one in its last pass", () => {
  const steps = stepsOf([9, 2, 3, null, 4, 1], [0, 1, 2, 3, 4, 1]);
  const one = distributionOf({ id: 1, name: "A", steps }, { first: 1, last: 4 }, "");
  assert.deepEqual(one.values, [1, 3, 4]);
  assert.deepEqual(
    [0, 0.5, 1].map((share) => one.quantile(share)),
    [1, 3, 4],
  );
  assert.equal(shareWithin(one, 3), 2 / 3);
  assert.equal(shareWithin(one, 0.5), 0);
  assert.deepEqual(distributionOf({ id: 1, name: "A", steps }, null, "").values, []);
});

test("a distribution holds no step that the figures leave out", () => {
  const interruptions = [null, "checkpoint", null, "evaluation,profile", null];
  const steps = { ...stepsOf([9, 2, 3, 5, 4]), interruptions };
  const values = (without: string) =>
    distributionOf({ id: 1, name: "A", steps }, { first: 0, last: 4 }, without).values;
  assert.deepEqual(values(""), [9, 2, 3, 5, 4]);
  assert.deepEqual(values("checkpoint"), [9, 3, 5, 4]);
  assert.deepEqual(values("profile"), [9, 2, 3, 4]);
  assert.deepEqual(values("checkpoint,evaluation"), [9, 3, 4]);
  assert.deepEqual(values("all"), [9, 3, 4]);
});

test("distributions share an axis that a single slow step does not stretch", () => {
  const window = { first: 0, last: 40 };
  const fast = distributionOf({ id: 1, name: "A", steps: stepsOf([...steady, 70]) }, window, "");
  const slow = distributionOf(
    { id: 2, name: "B", steps: stepsOf(steady.map((time) => 1.02 * time)) },
    window,
    "",
  );
  const range = distributionRange([fast, slow]);
  assert.ok(range.min < 7.38 && range.max > 7.4 * 1.02 && range.max < 8);
  assert.equal(offScaleCount(fast, range), 1);
  assert.equal(offScaleCount(slow, range), 0);
});

test("dots of a row are spread within it, and neighbours apart", () => {
  const places = Array.from({ length: 60 }, (_, at) => spreadOf(at));
  assert.ok(places.every((place) => Math.abs(place) <= 0.5));
  places.slice(1).forEach((place, at) => assert.ok(Math.abs(place - (places[at] ?? 0)) > 0.3));
});

test("steps are marked by what they are, in the segment that counts alone", () => {
  const steps: Steps = {
    ...restarted,
    interruptions: ["evaluation", null, null, "checkpoint,evaluation", null, null],
  };
  const insight = {
    warm_up_last_iteration: 1,
    outliers: [{ iteration: 3, step_time_s: 3.1, ratio: 1.2 }],
    periodic: { period: 2, first_iteration: 1 },
  } as unknown as RunInsight;
  const marks = marksOf(insight, null, steps, chartSeries(steps, "step_time_s", 1));
  assert.deepEqual(
    marks.map(({ iteration, kind }) => [iteration, kind]),
    [
      [1, "warm_up"],
      [1, "evaluation"],
      [3, "outlier"],
      [1, "periodic"],
      [3, "periodic"],
    ],
  );
  assert.deepEqual(interruptionSentences(steps, 1, 2), [
    "1 step holds a checkpoint (iteration 1): in the mean 1.500 × the steady time.",
    "1 step holds an evaluation (iteration 1): in the mean 1.500 × the steady time.",
  ]);
  assert.deepEqual(interruptionSentences(restarted, 1, 2), []);
});

test("what is shown moves and zooms within the whole", () => {
  const whole = { min: 0, max: 100 };
  assert.deepEqual(panned({ min: 20, max: 40 }, whole, 0.5), { min: 30, max: 50 });
  assert.deepEqual(panned({ min: 20, max: 40 }, whole, -3), { min: 0, max: 20 });
  assert.deepEqual(panned({ min: 20, max: 40 }, whole, 9), { min: 80, max: 100 });
  assert.deepEqual(scaledBy({ min: 20, max: 40 }, whole, 0.5, 4), { min: 25, max: 35 });
  assert.deepEqual(scaledBy({ min: 0, max: 20 }, whole, 2, 4), { min: 0, max: 40 });
  assert.deepEqual(scaledBy({ min: 10, max: 14 }, whole, 0.5, 4), { min: 10, max: 14 });
  assert.deepEqual(scaledBy({ min: 1, max: 99 }, whole, 2, 4), whole);
});
