// The formatter: what a reader sees for each number of the API.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatAgo,
  formatBytes,
  formatClock,
  formatMeanDeviation,
  formatNumber,
  formatPercent,
  formatPlural,
  formatProgress,
  formatRelative,
  formatScientific,
  formatSeconds,
  formatSource,
  formatSpan,
  formatTicks,
  formatUtc,
  progressFraction,
  splitExperiment,
  tellingFolders,
} from "../../web/src/format";
import { inZone } from "./in_zone";

test("step times keep the four digits that logs print", () => {
  assert.equal(formatSeconds(7.382), "7.382 s");
  assert.equal(formatSeconds(44.851173877716064), "44.85 s");
  assert.equal(formatSeconds(0.52314), "0.5231 s");
  assert.equal(formatSeconds(229.1), "229.1 s");
  assert.equal(formatSeconds(12345.6), "12,346 s");
  assert.equal(formatSeconds(0.99996), "1.000 s");
  assert.equal(formatSeconds(99.996), "100.0 s");
  assert.equal(formatSeconds(0), "0.000 s");
});

test("what is not known is a dash, never a zero", () => {
  for (const value of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(formatSeconds(value), "–");
    assert.equal(formatNumber(value), "–");
    assert.equal(formatBytes(value), "–");
    assert.equal(formatMeanDeviation(value, 1), "–");
  }
  assert.equal(formatProgress(null, 49), "–");
});

test("a deviation has the decimals of its mean", () => {
  assert.equal(formatMeanDeviation(7.382, 0.0137, "s"), "7.382 ± 0.014 s");
  assert.equal(formatMeanDeviation(1678.6, 3.21), "1,679 ± 3");
  assert.equal(formatMeanDeviation(24.44, null, "s"), "24.44 s");
});

test("axis labels have the decimals that tell ticks apart", () => {
  assert.deepEqual(formatTicks([0, 50, 100]), ["0", "50", "100"]);
  assert.deepEqual(formatTicks([7.4, 7.5, 7.6]), ["7.4", "7.5", "7.6"]);
  assert.deepEqual(formatTicks([24.25, 24.5, 24.75]), ["24.25", "24.50", "24.75"]);
  assert.deepEqual(formatTicks([1000, 2000]), ["1,000", "2,000"]);
  assert.deepEqual(formatTicks([]), []);
  assert.deepEqual(formatTicks([2.6]), ["2.6"], "alone");
  assert.deepEqual(formatTicks([-0.25]), ["-0.25"]);
  assert.deepEqual(formatTicks([120]), ["120"]);
  assert.deepEqual(formatTicks([0]), ["0"]);
});

test("an axis of a small learning rate tells its ticks apart", () => {
  assert.deepEqual(formatTicks([2e-7, 3e-7, 4e-7]), ["2e-7", "3e-7", "4e-7"]);
  assert.deepEqual(formatTicks([2.5e-7, 3e-7, 3.5e-7]), ["2.5e-7", "3.0e-7", "3.5e-7"]);
  assert.deepEqual(formatTicks([0, 2e-7, 4e-7, 6.000000000000001e-7]), ["0", "2e-7", "4e-7", "6e-7"]);
  assert.deepEqual(formatTicks([3e-7]), ["3e-7"]);
  assert.deepEqual(formatTicks([0.0001, 0.0002]), ["0.0001", "0.0002"]);
  assert.deepEqual(formatTicks([0.00029, 0.0003]), ["0.00029", "0.00030"]);
});

test("loss and learning rate are readable at any magnitude", () => {
  assert.equal(formatScientific(11.2), "11.20");
  assert.equal(formatScientific(1.5e-6), "1.500e-6");
  assert.equal(formatScientific(0), "0");
});

test("progress is a share only where the log says how far it goes", () => {
  assert.equal(formatProgress(23, 49), "23 / 49");
  assert.equal(formatProgress(1500, null), "1,500");
  assert.equal(progressFraction(49, 49), 1);
  assert.equal(progressFraction(60, 49), 1);
  assert.equal(progressFraction(3, null), null);
  assert.equal(progressFraction(0, 0), null);
});

test("ages are coarse, and a clock that runs ahead is not in the future", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  assert.equal(formatAgo("2026-01-02T00:00:05Z", now, "utc"), "just now");
  assert.equal(formatAgo("2026-01-01T23:59:30Z", now, "utc"), "30 s ago");
  assert.equal(formatAgo("2026-01-01T23:15:00Z", now, "utc"), "45 min ago");
  assert.equal(formatAgo("2026-01-01T01:00:00Z", now, "utc"), "23 h ago");
  assert.equal(formatAgo("2025-12-25T00:00:00Z", now, "utc"), "8 d ago");
  assert.equal(formatAgo(null, now, "utc"), "–");
  assert.equal(formatAgo("not a time", now, "utc"), "–");
  inZone("Asia/Tokyo", () => {
    assert.equal(formatAgo("2025-01-01T20:00:00Z", now, "utc"), "2025-01-01");
    assert.equal(formatAgo("2025-01-01T20:00:00Z", now, "local"), "2025-01-02");
  });
});

test("the time of day stands alone where it is of today", () => {
  const now = Date.parse("2026-01-02T22:00:00Z");
  const inHours = (hours: number) => now + hours * 3_600_000;
  assert.equal(formatClock(inHours(1), "utc", now), "23:00 UTC");
  assert.equal(formatClock(inHours(3), "utc", now), "2026-01-03 01:00 UTC");
  inZone("Asia/Tokyo", () => {
    assert.equal(formatClock(inHours(3), "local", now), "10:00");
    assert.equal(formatClock(inHours(72), "local", now), "2026-01-06 07:00");
  });
  assert.equal(formatClock(1e20, "utc", now), "–", "beyond all dates");
  assert.equal(formatUtc("2026-01-02T03:04:05Z"), "2026-01-02 03:04:05 UTC");
});

test("bytes, plurals and sources are in words", () => {
  assert.equal(formatBytes(512), "512 B");
  assert.equal(formatBytes(184223), "180 KiB");
  assert.equal(formatBytes(5.5 * 1024 ** 3), "5.5 GiB");
  assert.equal(formatPlural(1, "step"), "1 step");
  assert.equal(formatPlural(1200, "step"), "1,200 steps");
  assert.equal(formatSource("llmb_config"), "llmb-config file");
  assert.equal(formatSource("something_new"), "something new");
});

test("an experiment's name splits before its layout and loses nothing", () => {
  const name = "pretrain_grok1_314b_fp8_gpus512_tp4_pp8_cp1_vp8_mbs1_gbs1024";
  assert.deepEqual(splitExperiment(name), [
    "pretrain_grok1_314b_fp8_gpus512",
    "_tp4_pp8_cp1_vp8_mbs1_gbs1024",
  ]);
  assert.deepEqual(splitExperiment("my_tpu_test"), ["my_tpu_test", ""]);
});

test("folders tell a log apart whose own name does not", () => {
  assert.equal(tellingFolders("slurm-1", "alice/h100/llama70b/slurm-1.out"), "h100/llama70b");
  assert.equal(tellingFolders("train.log", "bob/train.log"), "bob");
  assert.equal(tellingFolders("train.log", "train.log"), "");
  assert.equal(tellingFolders("grok1", "experiments/grok1/grok1_17/log-a.grok1_1.out"), "");
});

test("a difference that rounds to nothing has no sign", () => {
  assert.equal(formatRelative(0.0123), "+1.23 %");
  assert.equal(formatRelative(-0.0123), "−1.23 %");
  assert.equal(formatRelative(-0.000_01), "0.00 %");
  assert.equal(formatRelative(null), "–");
  assert.equal(formatPercent(0.9534), "95.3 %");
});

test("a silence is told in the unit that fits it", () => {
  assert.equal(formatSpan(42.4), "42 s");
  assert.equal(formatSpan(240), "4 min");
  assert.equal(formatSpan(3 * 3600 + 1800), "3.5 h");
  assert.equal(formatSpan(null), "–");
});
