// What the history of a cell's runs says beside its state.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryChange, HistoryDrift, HistorySeries } from "../../web/src/api/types";
import { boardRows, boardTable } from "../../web/src/state/board";
import { certifications } from "../../web/src/state/certification";
import { placesIn, sinceThen } from "../../web/src/state/since_then";
import { reference, scaling, standing } from "./board_answers";

const change: HistoryChange = {
  at: 3,
  run_id: 4,
  previous_run_id: 3,
  verdict: "slower",
  step_time_s_before: 2,
  step_time_s_after: 2.134,
  step_time_ratio: 1.067,
  differences: [],
};

const drift: HistoryDrift = {
  at: 1,
  run_id: 2,
  last_at: 5,
  last_run_id: 6,
  verdict: "faster",
  may_begin_earlier: false,
  goes_on: true,
  step_time_s_before: 2,
  step_time_s_after: 1.9,
  step_time_ratio: 0.95,
  step_time_ratio_per_run: 0.99,
};

// Runs 1 to 6.
const history = (further: Partial<HistorySeries>): HistorySeries => ({
  workload: "grok1",
  model_size: "314b",
  dtype: "bf16",
  gpu_type: "h100",
  gpu_count: 512,
  global_batch_size: 1024,
  window: "11-44",
  other_windows: [],
  cluster: null,
  newest: "steady",
  newest_means: "steady",
  runs: [1, 2, 3, 4, 5, 6].map((id) => ({
    id,
    experiment: "x",
    job_id: id,
    launched_at: `2026-02-0${id}T08:00:00Z`,
    step_time_s_mean: 2,
    step_time_s_median: 2,
  })),
  copies: [],
  left_out: [],
  changes: [],
  drift: null,
  mean_changes: [],
  ...further,
});

test("runs on either side of a change of level are told to be so", () => {
  const changed = placesIn([history({ changes: [change] })]);
  const told = sinceThen([2, 3, 4, 5], 4, changed);
  assert.equal(told?.verdict, "slower");
  assert.equal(
    told?.words,
    "Not all alike, in the order of their starts: " +
      "from run 4 on 6.7 % slower, median step time 2.000 s to 2.134 s.",
  );
  assert.equal(sinceThen([1, 2, 3], 3, changed), null, "all of the level before");
  assert.equal(sinceThen([4, 5, 6], 3, changed), null, "all of the new level");
  assert.equal(sinceThen([4, 5, 6], 5, changed)?.verdict, "slower", "two more are not named");
  assert.equal(sinceThen([17, 18], 2, changed), null, "runs of another series");
});

test("runs that drift are told to, and so are two newest ones off their level", () => {
  const drifting = placesIn([history({ drift })]);
  assert.match(sinceThen([3, 4, 5], 3, drifting)?.words ?? "", /from run 2 on 5\.0 % faster, run by run/);
  assert.equal(sinceThen([1, 2], 2, drifting), null);
  assert.equal(sinceThen([5], 1, drifting), null, "one run moves nowhere");
  const slower = placesIn([history({ newest: "slower" })]);
  assert.match(sinceThen([3, 4, 5, 6], 4, slower)?.words ?? "", /from run 5 on slower\.$/);
  assert.equal(sinceThen([3, 4], 2, slower), null);
});

test("a cell and its certification say beside their state what moved since", () => {
  const answers = scaling(standing(1, 0.97), null);
  const point = answers.series[0]?.points[0];
  const [run] = point?.runs ?? [];
  assert.ok(point && run);
  point.runs = [3, 4, 5].map((id) => ({ ...run, id }));
  point.tokens_per_s_per_gpu.run_count = 3;
  const rowsOf = (histories: HistorySeries[]) =>
    boardRows([reference({})], { cluster: null, scaling: answers }, "utc", placesIn(histories));
  const rows = rowsOf([history({ changes: [change] })]);
  const [cell] = rows[0]?.cells ?? [];
  assert.equal(cell?.state, "met");
  assert.match(cell?.words ?? "", /meets the aim of 0\.95 ×\. Not all alike.* 6\.7 % slower/);
  const table = boardTable(rows, () => false);
  assert.equal(table.rows[0]?.[table.heads.indexOf("since then")], "slower");
  const times = new Map([3, 4, 5].map((id) => [id, "2026-02-01T08:00:00Z"]));
  const [certified] = certifications(rows, times, Date.parse("2026-03-01T00:00:00Z"), "utc");
  assert.equal(certified?.state, "certified");
  assert.match(certified?.words ?? "", /Not all alike.* 6\.7 % slower/);
  assert.equal(rowsOf([history({})])[0]?.cells[0]?.since, null);
});
