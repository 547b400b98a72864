// Which steps of a run its figures are of, in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunStatistics } from "../../web/src/api/types";
import { isAllLeftOut, noTflopsWords, windowWords } from "../../web/src/window_words";

const kSome = { count: 34, mean: 7.4 } as NonNullable<RunStatistics["step_time_s"]>;

const kWhole = {
  window: "20-30",
  window_is_whole: true,
  iterations_missing_in_window: 0,
  steps_left_out: 0,
  step_time_s: kSome,
  tflops_per_gpu: kSome,
};
const kNone = { step_time_s: null, tflops_per_gpu: null };
const kBut = "left out, but for what is held against published figures.";

test("a window is whole, lacks iterations, or holds no step", () => {
  assert.equal(windowWords(kWhole, false), "Window 20-30 is whole.");
  const lacking = { ...kWhole, window_is_whole: false, iterations_missing_in_window: 2 };
  const words = "Window 20-30 lacks 2 iterations: the figures are of the rest.";
  assert.equal(windowWords(lacking, false), words);
  const left = { ...lacking, steps_left_out: 1 };
  assert.equal(windowWords(left, false), `${words} 1 step of it ${kBut}`);
  assert.equal(windowWords({ ...lacking, ...kNone }, true), "Window 20-30 holds no step yet.");
  assert.equal(windowWords({ ...lacking, ...kNone }, false), "Window 20-30 holds no step.");
});

test("a window whose steps are all left out has no figures, for that reason", () => {
  const all = { ...kWhole, ...kNone, steps_left_out: 11 };
  const words = `Window 20-30 has no figures: all 11 steps of it are ${kBut}`;
  assert.equal(windowWords(all, false), words);
  const lacking = { ...all, window_is_whole: false, iterations_missing_in_window: 11 };
  assert.equal(windowWords(lacking, true), words);
  assert.match(windowWords({ ...all, steps_left_out: 1 }, false), /: the one step that it holds is /);
  assert.equal(noTflopsWords(all), "Every step of the window is left out.");
  assert.deepEqual([isAllLeftOut(all), isAllLeftOut(kWhole)], [true, false]);
});

test("without a rate it is said what has none", () => {
  const none = { ...kWhole, tflops_per_gpu: null };
  assert.equal(noTflopsWords(none), "The log prints none in this window.");
  const rest = { ...none, steps_left_out: 3 };
  assert.equal(noTflopsWords(rest), "The log prints none for the steps that count.");
});
