// The counts beside a filter's values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countQuery } from "../../web/src/state/choice_counts";
import { readListState } from "../../web/src/state/list_state";

test("a value is counted beside the other filters, in the place of its own", () => {
  const state = readListState(
    new URLSearchParams("workload=grok1&failure_cause=cuda_oom&failure_cause=hung&status=failed"),
  );
  const query = countQuery(state, "failure_cause", "time_limit");
  assert.deepEqual(query.getAll("failure_cause"), ["time_limit"]);
  assert.equal(query.get("workload"), "grok1");
  assert.equal(query.get("status"), "failed");
  assert.equal(query.get("limit"), "1");
});
