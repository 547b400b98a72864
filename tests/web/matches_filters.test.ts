// Whether a run that changed stays in the list.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../web/src/api/types";
import { readListState } from "../../web/src/state/list_state";
import { filterValue, matchesFilters } from "../../web/src/state/matches_filters";

const run = {
  status: "complete",
  dtype: "fp8_cs",
  model_size: "314b",
  gpu_type: "gb200",
  gpu_count: 512,
  release: "25.08",
  cluster: null,
  job_id: 7,
  root_id: 2,
  launched_at: "2025-12-22T15:18:33Z",
  first_seen_at: "2025-12-24T00:00:00Z",
  is_superseded: false,
  speed_against_reference: 0.93,
  mfu: 0.41,
  marks: ["traced"],
} as unknown as Run;

const matches = (query: string, changed: Partial<Run> = {}) =>
  matchesFilters({ ...run, ...changed }, readListState(new URLSearchParams(query)));

test("a run that no longer matches leaves the list", () => {
  assert.equal(matches(""), true);
  assert.equal(matches("status=complete&dtype=fp8_cs"), true);
  assert.equal(matches("status=running"), false);
  assert.equal(matches("status=running&status=complete"), true);
  assert.equal(matches("mark=proxy&mark=traced"), true);
  assert.equal(matches("mark=none"), false);
  assert.equal(matches("mark=none", { marks: [] }), true);
  assert.equal(matches("mark=implausible", { marks: ["implausible"] }), true);
  assert.equal(matches("", { is_superseded: true }), false);
  assert.equal(matches("include_superseded=true", { is_superseded: true }), true);
});

test("figures count where a run has them", () => {
  assert.equal(matches("speed_against_reference_at_most=0.95"), true);
  assert.equal(matches("speed_against_reference_at_least=0.95"), false);
  const without = { speed_against_reference: null };
  assert.equal(matches("speed_against_reference_at_most=1", without), false);
  assert.equal(matches("mfu_at_least=0.4&mfu_at_most=0.5"), true);
  assert.equal(matches("mfu_at_most=0.4"), false);
});

test("what it is, where it lies and who ran it count as the API has them", () => {
  assert.equal(matches("model_size=314b&gpu_count=512&gpu_count=1024&release=25.08"), true);
  assert.equal(matches("gpu_count=1024"), false);
  assert.equal(matches("release=25.07"), false);
  assert.equal(matches("release=25.07", { release: null }), false);
  assert.equal(matches("job_id=7&root_id=2"), true);
  assert.equal(matches("job_id=8"), false);
  assert.equal(matches("dtype=fp8"), true, "a coarse dtype stands for the fine ones");
  assert.equal(matches("dtype=bf16"), false);
  assert.equal(matches("cluster=none"), true);
  assert.equal(matches("failure_cause=none"), true);
  assert.equal(matches("failure_cause=none", { failure_cause: "hung" }), false);
  assert.equal(matches("cluster=none", { cluster: "eos" }), false);
  assert.equal(filterValue(run, "gpu_count"), "512");
  assert.equal(filterValue(run, "cluster"), null);
});

test("days: from an instant on, and up to another one without it", () => {
  assert.equal(matches("since=2025-12-22"), true);
  assert.equal(matches("since=2025-12-22T15:18:33Z"), true);
  assert.equal(matches("since=2025-12-22T15:18:34Z"), false);
  assert.equal(matches("before=2025-12-22T15:18:33Z"), false);
  assert.equal(matches("before=2025-12-23"), true);
  assert.equal(matches("since=2025-12-23", { launched_at: null }), true, "first seen then");
});
