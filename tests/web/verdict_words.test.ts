// A comparison's verdict in words, with what stands beside it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricComparison } from "../../web/src/api/types";
import {
  decisionWords,
  intervalRange,
  intervalWords,
  moreRunsWords,
  startDriftWords,
  verdictWords,
} from "../../web/src/verdict_words";

const compared = (
  verdict: MetricComparison["verdict"],
  relative: number | null,
  further: Partial<MetricComparison> = {},
) =>
  ({
    verdict,
    relative_difference: relative,
    ratio_low: null,
    ratio_high: null,
    equivalence: { margin: 0.01, is_equivalent: false, p_value: 0.4 },
    smallest_visible_difference: 0.0024,
    mean_ratio: null,
    means_differ: false,
    slow_steps: { count_min: 0, step_count: 34 },
    baseline_slow_steps: { count_min: 0, step_count: 34 },
    more_runs_to_decide: 2,
    ...further,
  }) as MetricComparison;

test("a verdict says which way it goes", () => {
  assert.equal(verdictWords("step_time_s", compared("slower", 0.015)), "1.5 % slower");
  assert.equal(verdictWords("tflops_per_gpu", compared("slower", -0.015)), "1.5 % slower");
  assert.equal(verdictWords("tokens_per_s_per_gpu", compared("faster", 0.02)), "2.0 % faster");
  const noise = verdictWords("step_time_s", compared("no_difference_shown", -0.001));
  assert.equal(noise, "0.1 % faster, within run-to-run noise");
  assert.equal(verdictWords("step_time_s", compared("not_comparable", null)), "not comparable");
  const untold = compared("cannot_be_told", null);
  assert.equal(verdictWords("step_time_s", untold), "a side has no value");
  const near = { mean_ratio: 0.971 };
  assert.equal(
    verdictWords("step_time_s", compared("faster", -0.0302, near)),
    "3.0 % faster by medians (2.9 % by means)",
  );
  assert.equal(
    verdictWords("step_time_s", compared("no_difference_shown", 0.0008, { mean_ratio: 0.9996 })),
    "0.1 % slower by medians (as fast by means), within run-to-run noise",
  );
  assert.equal(
    verdictWords("step_time_s", compared("slower", 0.0152, { mean_ratio: 1.0148 })),
    "1.5 % slower",
    "alike as printed",
  );
  const slowSteps = { mean_ratio: 4.6462, means_differ: true };
  const slow = { ...slowSteps, slow_steps: { count_min: 11, step_count: 34 } };
  const disagreeing = compared("means_disagree", 0, slow);
  assert.equal(
    verdictWords("step_time_s", disagreeing),
    "364.6 % slower by means, but as fast by medians: at least 11 of 34 steps are slow, " +
      "against 0 of 34",
  );
  assert.equal(
    verdictWords("step_time_s", compared("means_disagree", 0, slowSteps)),
    "364.6 % slower by means, but as fast by medians: slow steps",
  );
  assert.equal(moreRunsWords(disagreeing), "", "no more runs would decide it");
  assert.equal(decisionWords(disagreeing), "");
});

test("an interval says which way each of its ends goes", () => {
  const told = compared("no_difference_shown", 0, { ratio_low: 0.999, ratio_high: 1.0124 });
  const words = "95 % interval: 0.10 % faster to 1.24 % slower.";
  assert.equal(intervalWords("step_time_s", told), words);
  assert.equal(intervalRange("step_time_s", told), "0.10 % faster to 1.24 % slower");
  const both = compared("faster", -0.019, { ratio_low: 0.979, ratio_high: 0.9836 });
  assert.equal(intervalWords("step_time_s", both), "95 % interval: 1.64 % to 2.10 % faster.");
  assert.match(intervalWords("tflops_per_gpu", told), /0\.10 % slower to 1\.24 % faster/);
  for (const words of [intervalRange, intervalWords]) {
    assert.equal(words("step_time_s", compared("cannot_be_told", null)), "");
  }
});

test("runs that drift in the order of their starts are told beside the verdict", () => {
  const start_drift = { change_per_run: 0.004, p_value: 0.001, sides_are_separate: false };
  const drifting = compared("no_difference_shown", 0.001, { start_drift });
  const words = "From one start to the next the runs are 0.40 % slower";
  assert.equal(startDriftWords("step_time_s", drifting), `${words}.`);
  assert.match(startDriftWords("tokens_per_s_per_gpu", drifting), /0\.40 % faster\.$/);
  const separate = { start_drift: { ...start_drift, sides_are_separate: true } };
  assert.equal(
    startDriftWords("step_time_s", compared("slower", 0.02, separate)),
    `${words}, and one side was started after the other: the difference may be the drift's.`,
  );
  for (const none of [null, { ...start_drift, p_value: 0.06 }, { ...start_drift, p_value: null }]) {
    assert.equal(startDriftWords("step_time_s", compared("slower", 0.02, { start_drift: none })), "");
  }
});

test("a side that drifts is named, and nothing is equivalent to it", () => {
  const still = { change_per_run: 0.0001, change: 0.001, p_value: 0.6 };
  const moving = { change_per_run: 0.004, change: 0.036, p_value: 0.0001 };
  const start_drift = { change_per_run: 0.001, p_value: 0.01, sides_are_separate: false };
  const drifting = (baseline: typeof still, other: typeof still) =>
    compared("no_difference_shown", 0.001, {
      start_drift,
      side_drifts: { baseline, other },
      more_runs_to_decide: 0,
    });
  const one = drifting(moving, still);
  assert.equal(
    startDriftWords("step_time_s", one),
    "What it is compared with became 3.60 % slower from its first start to its last.",
  );
  assert.equal(verdictWords("step_time_s", one), "0.1 % slower, while a side drifts");
  assert.equal(moreRunsWords(one), "a side drifts");
  assert.match(startDriftWords("step_time_s", drifting(moving, moving)), /This side itself became/);
  const none = drifting(still, still);
  assert.match(startDriftWords("step_time_s", none), /^From one start to the next/);
  assert.equal(moreRunsWords(none), "decided");
});

test("what is not decided says what would decide it; what is equivalent is decided", () => {
  const open = compared("no_difference_shown", 0.002, { more_runs_to_decide: 1 });
  assert.match(decisionWords(open), /^Differences of 0\.24 % .* 1 more run on each side would/);
  const never = compared("no_difference_shown", 0.002, { more_runs_to_decide: null });
  assert.match(decisionWords(never), /More than 50 more runs/);
  const equivalence = { margin: 0.01, is_equivalent: true, p_value: 0.001 };
  const equal = compared("no_difference_shown", 0.002, { equivalence });
  assert.equal(decisionWords(equal), "");
  assert.equal(
    verdictWords("step_time_s", equal),
    "0.2 % slower, equivalent within 1 % (two one-sided tests, 90 % interval)",
  );
  assert.equal(decisionWords(compared("slower", 0.02)), "");
});
