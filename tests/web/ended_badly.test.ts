// One word for all runs that ended badly, and the way to their list.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../web/src/api/types";
import { endedBadly, endedBadlyHref } from "../../web/src/ended_badly";
import { statusWord } from "../../web/src/status_words";
import { kStatuses, readListState } from "../../web/src/state/list_state";
import { matchesFilters } from "../../web/src/state/matches_filters";

const run = (
  status: Run["status"],
  failure_cause: string | null = null,
  has_run_all_steps = false,
) =>
  ({
    ...{ status, failure_cause, has_run_all_steps },
    ...{ is_superseded: false, marks: [] },
  }) as unknown as Run;

const kBad = [
  run("failed", "cuda_oom"),
  run("incomplete", "hung"),
  run("incomplete"),
  run("running", "hung"),
  run("invalid"),
  run("no_data"),
];
const kOthers = [run("complete"), run("running"), run("incomplete", null, true)];

test("runs that hang ended badly as those that failed did", () => {
  assert.ok(kBad.every(endedBadly));
  assert.ok(!kOthers.some(endedBadly));
});

test("the filter by status has all of them in one choice, beside others", () => {
  assert.equal(statusWord(kStatuses[0] ?? ""), "ended badly");
  assert.equal(endedBadlyHref(), "/runs?status=ended_badly");
  const state = readListState(new URLSearchParams("status=ended_badly"));
  assert.ok(kBad.every((one) => matchesFilters(one, state)));
  assert.ok(!kOthers.some((one) => matchesFilters(one, state)));
  const more = readListState(new URLSearchParams("status=ended_badly&status=complete"));
  assert.ok(matchesFilters(run("complete"), more));
});

test("the way to those of a run's configuration has nothing else of the run", () => {
  const one = { ...run("failed"), workload: "grok1", gpu_type: null, gpu_count: 8, cluster: "eos" };
  const href = "/runs?status=ended_badly&workload=grok1&gpu_count=8";
  assert.equal(endedBadlyHref(one), href);
  assert.equal(endedBadlyHref(one, "none"), `${href}&cluster=none`);
});
