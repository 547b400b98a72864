// The time axis: what it labels is where the label says, in the zone that is shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Zone } from "../../web/src/format";
import { timeTicks } from "../../web/src/chart/time_ticks";
import { inZone } from "./in_zone";

const range = (from: string, to: string) => ({ min: Date.parse(from), max: Date.parse(to) });
const labels = (from: string, to: string, count: number, zone: Zone = "utc") =>
  timeTicks(range(from, to), count, zone).map(({ label }) => label);

test("of daily runs every midnight has its label, and no run lies on the wrong side of one", () => {
  const days = range("2026-09-19T10:30:00Z", "2026-09-26T09:10:00Z");
  const ticks = timeTicks(days, 9, "utc");
  assert.deepEqual(
    ticks.map(({ label }) => label),
    [20, 21, 22, 23, 24, 25, 26].map((day) => `2026-09-${day}`),
  );
  for (const { at, label } of ticks) assert.equal(at, Date.parse(`${label}T00:00:00Z`));
});

test("the finest step whose labels fit is taken, from minutes to decades", () => {
  assert.deepEqual(labels("2026-09-26T10:01:00Z", "2026-09-26T10:13:00Z", 3), [
    "09-26 10:05",
    "09-26 10:10",
  ]);
  assert.deepEqual(labels("2026-09-26T10:01:00Z", "2026-09-27T13:00:00Z", 3), [
    "09-26 12:00",
    "09-27 00:00",
    "09-27 12:00",
  ]);
  assert.deepEqual(labels("2026-09-02T00:00:00Z", "2026-09-30T00:00:00Z", 4), [
    "2026-09-07",
    "2026-09-14",
    "2026-09-21",
    "2026-09-28",
  ]);
  assert.deepEqual(labels("2025-11-20T00:00:00Z", "2026-05-02T00:00:00Z", 6), [
    "2025-12",
    "2026-01",
    "2026-02",
    "2026-03",
    "2026-04",
    "2026-05",
  ]);
  assert.deepEqual(labels("2019-06-01T00:00:00Z", "2026-06-01T00:00:00Z", 4), [
    "2020",
    "2022",
    "2024",
    "2026",
  ]);
  assert.deepEqual(labels("1995-06-01T00:00:00Z", "2026-06-01T00:00:00Z", 3), [
    "2000",
    "2010",
    "2020",
  ]);
});

test("there are never more ticks than asked for, nor none, whatever the range", () => {
  const begin = Date.parse("2026-02-27T22:59:30Z");
  for (let span = 1000; span < 4e11; span *= 1.7) {
    for (const count of [1, 2, 3, 7, 11]) {
      const max = begin + span;
      const ticks = timeTicks({ min: begin, max }, count, "utc");
      assert.ok(ticks.length > 0 && ticks.length <= count, `${span} ms, ${count}`);
      assert.ok(ticks.every(({ at }) => at >= begin && at <= max));
      assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length);
    }
  }
  assert.deepEqual(labels("2026-09-26T10:01:00Z", "2026-09-26T10:01:00Z", 3), ["09-26 10:01"]);
});

test("local days begin at local midnight, over a change of the clocks, too", () => {
  // Summer time ends in the night to 2026-10-25.
  inZone("Europe/Berlin", () => {
    const ticks = timeTicks(range("2026-10-23T10:00:00Z", "2026-10-27T10:00:00Z"), 5, "local");
    assert.deepEqual(
      ticks.map(({ at, label }) => [label, new Date(at).toISOString()]),
      [
        ["2026-10-24", "2026-10-23T22:00:00.000Z"],
        ["2026-10-25", "2026-10-24T22:00:00.000Z"],
        ["2026-10-26", "2026-10-25T23:00:00.000Z"],
        ["2026-10-27", "2026-10-26T23:00:00.000Z"],
      ],
    );
  });
});
