// When a running run reaches its window and its end: where the window is the last step alone, and
// after a restart inside the log.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunDetails, Steps } from "../../web/src/api/types";
import { limitWords, outlookOf, presentIteration } from "../../web/src/outlook";

test("a window that is the newest step is reached with the run's last one", () => {
  const steps = { segment: [0, 0], step_time_s: [10, 10] } as unknown as Steps;
  const run = {
    status: "running",
    segment: 0,
    segments: [] as unknown,
    window: "14-14",
    window_is_whole: true,
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

test("after a restart the pace and the place are of the newest pass, the window of any", () => {
  const steps = { segment: [0, 0, 1, 1], step_time_s: [10, 10, 4, 4] } as unknown as Steps;
  const run = {
    status: "running",
    segment: 0,
    segments: [
      { segment: 0, last_iteration: 48 },
      { segment: 1, last_iteration: 21 },
    ],
    window: "11-44",
    window_is_whole: true,
    last_iteration: 48,
    declared_last_iteration: 49,
    grown_at: "2026-01-01T00:00:00Z",
    job: { limit_ends_at: "2026-01-01T00:00:40Z" },
  } as RunDetails;
  assert.equal(presentIteration(run), 21);
  const outlook = outlookOf(run, steps, Date.parse(run.grown_at));
  assert.ok(outlook);
  assert.equal(outlook.paceS, 4);
  assert.equal(outlook.window?.isReached, true);
  assert.deepEqual(outlook.end, { iteration: 49, isReached: false, inSeconds: 112 });
  assert.equal(outlook.limit?.iteration, 31);
  assert.match(limitWords(outlook, "utc"), /window \(to 44\) will be whole/);
  const half = outlookOf({ ...run, window_is_whole: false }, steps, Date.parse(run.grown_at));
  assert.equal(half?.window?.isReached, false);
});
