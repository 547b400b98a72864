// Jobs by the logs that name them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../web/src/api/types";
import { loggedJobs } from "../../web/src/state/logged_jobs";
import { askPages } from "../../web/src/state/pages";

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

test("a job that was submitted here is told of once", () => {
  const runs = [run(1, 7), run(2, 8), run(3, 7, { experiment: "y" })];
  const submitted = { job_id: 7, experiment: "x", cluster: "eos", launch_id: "x_1" };
  const jobs = loggedJobs(runs, [submitted]);
  assert.deepEqual(jobs.map(({ jobId, experiment }) => `${jobId} ${experiment}`), ["8 x", "7 y"]);
});

test("a number that came again, or that another cluster uses, is of no job submitted here", () => {
  const submitted = { job_id: 7, experiment: "x", cluster: "eos", launch_id: "x_2" };
  const shown = (further: Partial<Run>) => loggedJobs([run(1, 7, further)], [submitted]).length;
  assert.equal(shown({ cluster: "eos", launch_id: "x_2" }), 0);
  assert.equal(shown({ cluster: null, launch_id: null }), 0, "its log says neither");
  assert.equal(shown({ cluster: "selene", launch_id: "x_2" }), 1);
  assert.equal(shown({ cluster: "eos", launch_id: "x_1" }), 1);
  const both = [run(1, 7, { launch_id: "x_1" }), run(2, 7, { launch_id: "x_2" })];
  assert.equal(loggedJobs(both).length, 2);
});

test("so many pages of a list are asked as a reader wants, and no more than there are", async () => {
  const cursors: (string | null)[] = [];
  const ask = async (query: URLSearchParams) => {
    cursors.push(query.get("cursor"));
    return { next_cursor: cursors.length < 3 ? `after ${cursors.length}` : null };
  };
  assert.equal((await askPages(2, new URLSearchParams({ limit: "1" }), ask)).length, 2);
  assert.deepEqual(cursors, [null, "after 1"]);
  cursors.length = 0;
  assert.equal((await askPages(9, new URLSearchParams(), ask)).length, 3);
});
