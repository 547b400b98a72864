// What the page of failures says, and where its rows lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failures } from "../../web/src/api/types";
import {
  nodeCauseWords,
  nodesLeftOutWords,
  periodWords,
  runsOf,
  summaryWords,
  unexplainedRunsOf,
  unexplainedWords,
} from "../../web/src/failure_words";
import { hiddenFilters } from "../../web/src/state/hidden_filters";
import { readListState } from "../../web/src/state/list_state";

test("what failed is told with its share of what ended", () => {
  const told = (ended: number, failed: number, complete: number) =>
    summaryWords({ ended, failed, complete } as Failures);
  assert.equal(told(10, 4, 5), "4 of 10 ended runs failed (40.0 %), 5 are complete");
  assert.equal(told(1, 0, 1), "0 of 1 ended run failed (0.0 %), 1 is complete");
  assert.equal(told(0, 0, 0), "0 of 0 ended runs failed, 0 are complete");
});

test("a row leads to the list under the filters of the page and its own", () => {
  const state = readListState(new URLSearchParams("cluster=eos&failure_cause=hung&pick=1,2"));
  assert.equal(
    runsOf(state, { failure_cause: ["cuda_oom"] }),
    "/runs?cluster=eos&failure_cause=cuda_oom",
  );
  assert.equal(runsOf(readListState(new URLSearchParams()), {}), "/runs");
  assert.equal(
    unexplainedRunsOf(state, "incomplete"),
    "/runs?status=incomplete&cluster=eos&failure_cause=none",
  );
});

test("a node is told with its causes, the most frequent first", () => {
  const causes = [
    { cause: "worker_killed", runs: 1 },
    { cause: "cuda_oom", runs: 3 },
  ];
  const newest = { newest_run: 1, newest_runs: [1], newest_began_at: "2026-01-05T00:00:00Z" };
  const words = nodeCauseWords({ node: "n", runs: 4, ...newest, causes });
  assert.match(words, /^3 CUDA .*, 1 worker killed$/);
});

test("a period is told with those that end without a cause, where there are any", () => {
  const one = { begins_on: "2026-01-05", ended: 6, failed: 3, complete: 2 };
  assert.equal(
    periodWords("week", one),
    "in the week from 2026-01-05: 3 failed, 1 not complete, no failure found, 2 complete",
  );
  assert.equal(
    periodWords("day", { ...one, ended: 5 }),
    "on 2026-01-05: 3 failed, 2 complete",
  );
});

test("nodes that are left out are told in the number they have", () => {
  assert.equal(nodesLeftOutWords(1), "1 more node is left out.");
  assert.equal(nodesLeftOutWords(2), "2 more nodes are left out.");
});

test("every filter that counts is a field or is named, and can be taken away", () => {
  const query =
    "q=%20abc&status=no_data&workload=grok1&dtype=fp8&failure_cause=none&failure_cause=hung&" +
    "mark=none&mfu_at_least=0.3&tokens_per_s_per_gpu_at_most=900";
  const state = readListState(new URLSearchParams(query));
  const filters = hiddenFilters(state, ["workload"]);
  assert.deepEqual(
    filters.map(({ label, value }) => `${label}: ${value}`),
    [
      "name or path: abc",
      "status: no data",
      "dtype: fp8",
      "failed by: no failure found",
      "failed by: hung",
      "marks: without a mark",
      "MFU at least: 30 %",
      "tokens/s a GPU at most: 900",
    ],
  );
  assert.deepEqual(filters[0]?.without, { ...state, q: "" });
  assert.deepEqual(filters[3]?.without, { ...state, failure_cause: ["hung"] });
  assert.deepEqual(filters[6]?.without.ranges, { tokens_per_s_per_gpu_at_most: "900" });
  const shown = readListState(new URLSearchParams("workload=a"));
  assert.deepEqual(hiddenFilters(shown, ["workload"]), []);
});

test("runs that did all they were to do are told from those that stopped", () => {
  const one = {
    ...{ status: "incomplete" as const, runs: 9, all_steps_run: 7 },
    ...{ newest_run: 9, newest_began_at: "2026-01-01T00:00:00Z", share: 0.5 },
  };
  assert.equal(unexplainedWords(one), "no failure found; 7 did all their steps");
  const single = { ...one, all_steps_run: 1 };
  assert.equal(unexplainedWords(single), "no failure found; 1 did all its steps");
  assert.equal(unexplainedWords({ ...one, all_steps_run: 0 }), "no failure found");
});
