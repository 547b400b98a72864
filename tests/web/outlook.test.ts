// When a running run reaches its window, where that is the last step alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunDetails, Steps } from "../../web/src/api/types";
import { outlookOf } from "../../web/src/outlook";

test("a window that is the newest step is reached with the run's last one", () => {
  const steps = { segment: [0, 0], step_time_s: [10, 10] } as unknown as Steps;
  const run = {
    status: "running",
    segment: 0,
    window: "14-14",
    last_iteration: 14,
    declared_last_iteration: 49,
    grown_at: "2026-01-01T00:00:00Z",
  } as RunDetails;
  const windowOf = (changed: Partial<RunDetails>) =>
    outlookOf({ ...run, ...changed }, steps, Date.parse(run.grown_at))?.window;
  assert.deepEqual(windowOf({}), { iteration: 49, isReached: false, inSeconds: 350 });
  assert.equal(windowOf({ declared_last_iteration: null })?.isReached, true);
  assert.equal(windowOf({ window: "12-14" })?.isReached, true);
  assert.equal(windowOf({ last_iteration: 49, window: "49-49" })?.isReached, true);
});
