// Jobs by the logs that name them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../web/src/api/types";
import { loggedJobs } from "../../web/src/state/logged_jobs";

const run = (id: number, jobId: number | null, further: Partial<Run> = {}) =>
  ({
    id,
    job_id: jobId,
    root_id: 1,
    cluster: null,
    experiment: "x",
    launched_at: "2025-06-19T19:06:40Z",
    retry: 0,
    ...further,
  }) as Run;

test("the starts of a job stand under its number, in their order", () => {
  const jobs = loggedJobs([run(9, 7), run(5, 8, { retry: 1 }), run(6, 8), run(4, null)]);
  assert.deepEqual(
    jobs.map(({ jobId, runs }) => [jobId, runs.map(({ id }) => id)]),
    [
      [7, [9]],
      [8, [6, 5]],
    ],
  );
});

test("a number that two clusters or two launches use is of two jobs", () => {
  const jobs = loggedJobs([
    run(1, 7, { cluster: "eos" }),
    run(2, 7, { cluster: "selene" }),
    run(3, 7, { cluster: "eos", experiment: "y" }),
  ]);
  assert.equal(jobs.length, 3);
});
