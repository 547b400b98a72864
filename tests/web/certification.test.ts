// What certifies a cluster, until when, and what is left to be run.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reference } from "../../web/src/api/types";
import type { BoardCell, BoardRow } from "../../web/src/state/board";
import type { Variant } from "../../web/src/state/measured";
import {
  certifications,
  certificationTable,
  suiteCommands,
  suiteName,
  suites,
} from "../../web/src/state/certification";
import { inZone } from "./in_zone";

const reference = (gpu_count: number): Reference => ({
  workload: "pretrain_grok1",
  model_size: "314b",
  dtype: "fp8",
  gpu_type: "gb200",
  gpu_count,
  release: "25.05",
  step_time_s: 5.3,
  tokens_per_s: null,
  mfu_percent: null,
  days_to_train_1t: null,
  document: "grok1-25.05",
  line: null,
  column: null,
  source: null,
  has_recipe: true,
  is_proxy: false,
});

const cell = (gpuCount: number, changes: Partial<BoardCell> = {}): BoardCell => ({
  reference: reference(gpuCount),
  state: "missing",
  endedBadly: false,
  words: "No run of this configuration was found.",
  standing: null,
  runs: [],
  runCount: changes.runs?.length ?? 0,
  since: null,
  variants: [],
  isRunning: false,
  others: [],
  otherCount: changes.others?.length ?? 0,
  otherReasons: new Map(),
  profiled: [],
  profiledCount: changes.profiled?.length ?? 0,
  repeats: 3,
  ...changes,
});

const row = (
  cells: BoardCell[],
  gpuType = "gb200",
  cluster: string | null = null,
): BoardRow => ({
  name: "grok1 314b fp8",
  cluster,
  documents: ["grok1-25.05"],
  gpuType,
  workload: "grok1",
  cells,
});

const kStarts = new Map([
  [1, "2026-01-10T08:00:00Z"],
  [2, "2026-03-01T08:00:00Z"],
  [3, "2026-02-01T08:00:00Z"],
  [4, "2024-05-01T08:00:00Z"],
]);
const kNow = Date.parse("2026-06-01T00:00:00Z");
const certified = (rows: BoardRow[], starts = kStarts, now = kNow) =>
  certifications(rows, starts, now, "utc");

const only = (changes: Partial<BoardCell>, now = kNow) => {
  const [one] = certified([row([cell(512, { state: "met", ...changes })])], kStarts, now);
  assert.ok(one);
  return one;
};

test("a workload is looked at where it has 512 GPUs, or the most below", () => {
  const scale = (...counts: number[]) =>
    certified([row(counts.map((count) => cell(count)))])[0]?.cell.reference
      .gpu_count;
  assert.equal(scale(128, 256, 512, 1024), 512);
  assert.equal(scale(8, 64), 64);
  assert.equal(scale(1024, 2048), 1024);
});

test("a proxy certifies nothing", () => {
  const proxy = cell(128, { reference: { ...reference(128), is_proxy: true } });
  assert.deepEqual(certified([row([proxy])]), []);
  const [one] = certified([row([cell(64), proxy])]);
  assert.equal(one?.cell.reference.gpu_count, 64);
});

test("what no run can be held against is told apart, and asks for no run", () => {
  const unjudged = cell(512, { state: "unjudged", words: "No run can.", repeats: 0 });
  const [suite] = suites(certified([row([unjudged]), row([cell(256)])]));
  assert.ok(suite);
  assert.deepEqual([suite.certifiedCount, suite.unjudgedCount, suite.of.length], [0, 1, 2]);
  assert.equal(suiteCommands(suite).split("\n").length, 1);
});

test("three runs are valid for a year from the oldest of the newest three", () => {
  const one = only({ runs: [4, 1, 2, 3] });
  assert.deepEqual([one.state, one.validUntil], ["certified", "2027-01-10T08:00:00.000Z"]);
  assert.equal(one.repeats, 0);
});

test("its days are those of the zone that is shown", () => {
  inZone("Asia/Tokyo", () => {
    const late = new Map([[1, "2025-05-01T20:00:00Z"]]);
    const rows = [row([cell(512, { state: "met", runs: [1] })])];
    const [one] = certifications(rows, late, kNow, "local");
    assert.match(one?.words ?? "", /it expired on 2026-05-02\./);
    const three = [row([cell(512, { state: "met", runs: [1, 2, 3] })])];
    const starts = new Map([1, 2, 3].map((id) => [id, "2026-03-01T20:00:00Z"]));
    const table = certificationTable(suites(certifications(three, starts, kNow, "local")), "local");
    assert.equal(table.rows[0]?.[table.heads.indexOf("valid until")], "2027-03-02");
  });
});

test("one of the runs may be profiled, and no more", () => {
  const words = "2 runs, as fast as published.";
  const with1 = only({ runs: [1, 2], profiled: [3], words });
  assert.equal(with1.state, "certified");
  assert.equal(
    with1.words,
    `3 runs, 1 of them profiled; the speed is that of the other 2. ${words}`,
  );
  const one = only({ runs: [1], profiled: [2, 3] });
  assert.deepEqual([one.state, one.repeats, one.validUntil], ["open", 1, null]);
});

test("what was certified expires, and says how many runs it takes anew", () => {
  const one = only({ runs: [1, 2, 3] }, Date.parse("2027-02-15T00:00:00Z"));
  assert.deepEqual([one.state, one.repeats], ["expired", 2]);
  assert.equal(one.validUntil, "2027-01-10T08:00:00.000Z");
  assert.match(one.words, /^The aim is met\. 2 of its newest 3 runs are older than 12 months/);
  assert.match(one.words, /the last of them expired on 2027-02-01\. 2 more runs for the 3 that it takes\.$/);
});

test("that a run is too old is said from the first run on, whatever its speed", () => {
  const single = only({ runs: [4] });
  assert.deepEqual([single.state, single.repeats, single.validUntil], ["open", 3, null]);
  assert.equal(
    single.words,
    "The aim is met. Its only run is older than 12 months: it expired on 2025-05-01. " +
      "3 more runs for the 3 that it takes.",
  );
  const mixed = only({ runs: [2, 4] });
  assert.match(mixed.words, /1 of its newest 2 runs is older/);
  assert.equal(mixed.repeats, 2);
  const slow = only({ runs: [4], state: "below", words: "1 run, below." });
  assert.equal(slow.words, "1 run, below. Its only run is older than 12 months: it expired on 2025-05-01.");
  assert.equal(only({ runs: [2] }).words, "The aim is met. 2 more runs for the 3 that it takes.");
});

test("a speed that misses the aim certifies nothing, however many runs there are", () => {
  const one = only({ runs: [1, 2, 3], state: "below", words: "3 runs, below.", repeats: 2 });
  assert.deepEqual([one.state, one.validUntil, one.words], ["open", null, "3 runs, below."]);
  assert.equal(one.repeats, 2);
});

test("a GPU type is certified by all its workloads, until the first of them expires", () => {
  const done = row([cell(512, { state: "met", runs: [1, 2, 3] })]);
  const later = new Map([...kStarts, [5, "2026-05-01T00:00:00Z"], [6, "2026-05-02T00:00:00Z"]]);
  const newer = row([cell(512, { state: "met", runs: [2, 5, 6] })]);
  const open = row([cell(256)], "h100");
  const [gb200, h100] = suites(certified([open, newer, done], later));
  assert.deepEqual(
    [gb200?.gpuType, gb200?.certifiedCount, gb200?.validUntil],
    ["gb200", 2, "2027-01-10T08:00:00.000Z"],
  );
  assert.deepEqual([h100?.gpuType, h100?.certifiedCount, h100?.validUntil], ["h100", 0, null]);
  const half = suites(certified([done, row([cell(512)])], later))[0];
  assert.deepEqual([half?.certifiedCount, half?.validUntil], [1, null]);
});

test("the commands are those of what is open, and the table has every workload", () => {
  const done = row([cell(512, { state: "met", runs: [1, 2, 3] })]);
  const [suite] = suites(certified([done, row([cell(256)])]));
  assert.ok(suite);
  assert.equal(
    suiteCommands(suite),
    "llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 256 -r 3",
  );
  const { heads, rows } = certificationTable([suite], "utc");
  assert.equal(heads.at(-1), "valid until");
  assert.deepEqual(
    rows.map((cells) => cells.at(-1)),
    ["2027-01-10", ""],
  );
});

const earlier: Variant = {
  name: "release 25.07",
  state: "met",
  runs: [1, 2, 3],
  runCount: 3,
  newestAt: "2026-03-01T08:00:00Z",
};

test("runs of an earlier environment certify nothing, and are named where runs are missing", () => {
  const at = new Map([...kStarts, [5, "2026-05-01T00:00:00Z"]]);
  const now = cell(512, { state: "met", runs: [5], variants: [earlier] });
  const [one] = certified([row([now])], at);
  assert.deepEqual([one?.state, one?.repeats], ["open", 2]);
  assert.equal(
    one?.words,
    "The aim is met. 2 more runs for the 3 that it takes. Of an earlier environment, and not " +
      "counted: 3 runs with release 25.07, the newest of 2026-03-01: aim met.",
  );
});

test("a profiled run from before the environment changed is not one of its runs", () => {
  const at = new Map([
    ...kStarts,
    [5, "2026-05-01T00:00:00Z"],
    [6, "2026-05-02T00:00:00Z"],
    [7, "2026-05-03T00:00:00Z"],
  ]);
  const with3 = (profiled: number[]) => {
    const one = cell(512, { state: "met", runs: [5, 6], profiled, variants: [earlier] });
    const [made] = certified([row([one])], at);
    return [made?.state, made?.runsMade];
  };
  assert.deepEqual(with3([3]), ["open", 2]);
  assert.deepEqual(with3([7]), ["certified", 3]);
});

test("each cluster has a suite of its own, and no run of another", () => {
  const done = [cell(512, { state: "met", runs: [1, 2, 3] })];
  const open = [cell(512)];
  const rows = [
    { ...row(done, "gb200", "alpha"), name: "grok1 314b fp8" },
    { ...row(open, "gb200", "alpha"), name: "llama4 400b fp8" },
    { ...row(open, "gb200", "beta"), name: "grok1 314b fp8" },
    { ...row(done, "gb200", "beta"), name: "llama4 400b fp8" },
    row(open, "h100", "beta"), // nothing was run there
    row([cell(64, { state: "below", runs: [4] }), cell(512)], "h100", "alpha"), // at another scale
  ];
  const all = suites(certified(rows));
  assert.deepEqual(
    all.map((suite) => [suiteName(suite), suite.certifiedCount, suite.of.length]),
    [
      ["gb200 of alpha", 1, 2],
      ["gb200 of beta", 1, 2],
      ["h100 of alpha", 0, 1],
    ],
  );
  const table = certificationTable(all, "utc");
  const names = table.rows.map((cells) => cells[table.heads.indexOf("cluster")]);
  assert.deepEqual(names, ["alpha", "alpha", "beta", "beta", "alpha"]);
});
