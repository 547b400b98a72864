// What the form that submits jobs sends and refuses to send, and what is said of its jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DryRun, JobState } from "../../web/src/api/types";
import { logWords, sentWords, slurmWords } from "../../web/src/job_words";
import {
  alikeRuns,
  kEmptySubmission,
  SubmissionKeys,
  submissionOf,
  submissionProblems,
} from "../../web/src/state/submission";

const fields = { ...kEmptySubmission, workload: " pretrain_grok1 " };

test("numbers are sent as they were written", () => {
  const written = { ...fields, scale: "128, 256;512 1024,", repeats: " 3 " };
  assert.deepEqual(submissionProblems(written), {});
  assert.deepEqual(submissionOf(written), {
    workload: "pretrain_grok1",
    scale: [128, 256, 512, 1024],
    repeats: 3,
  });
  assert.deepEqual(submissionProblems(fields), {});
  assert.deepEqual(submissionOf(fields), { workload: "pretrain_grok1" });
});

test("words that are no whole numbers are a problem of their field", () => {
  const strange = { ...fields, scale: "128, 25x6", repeats: "three" };
  const { scale, repeats } = submissionProblems(strange);
  assert.match(scale ?? "", /"25x6"/);
  assert.doesNotMatch(scale ?? "", /"128"/);
  assert.match(repeats ?? "", /"three"/);
  for (const wrong of ["-8", "1.5", "1e3", "12345678901"]) {
    assert.ok(submissionProblems({ ...fields, scale: wrong }).scale, wrong);
    assert.ok(submissionProblems({ ...fields, repeats: wrong }).repeats, wrong);
  }
  assert.ok(submissionProblems({ ...fields, repeats: "3 4" }).repeats, "one number only");
});

test("a body keeps its key until its submission succeeded", () => {
  let made = 0;
  const keys = new SubmissionKeys(() => `key ${++made}`);
  const first = keys.keyOf("a");
  assert.notEqual(keys.keyOf("b"), first);
  assert.equal(keys.keyOf("a"), first, "its answer was lost");
  keys.succeeded("a");
  assert.notEqual(keys.keyOf("a"), first, "the same once more is another submission");
});

test("what was sent is told by its state of now", () => {
  const words = (...states: JobState[]) => sentWords(states.map((state) => ({ state })));
  assert.equal(words("submitting"), "1 job on the way to Slurm");
  assert.equal(words("pending"), "1 job sent: pending");
  assert.equal(words("completed", "completed"), "2 jobs sent: completed");
  assert.equal(
    words("running", "submitting", "running", "not_submitted"),
    "4 jobs: 2 running, 1 on the way to Slurm, 1 not submitted",
  );
  assert.equal(words("not_submitted", "not_submitted"), "2 jobs: not submitted", "none was sent");
});

test("repeats stand once in a dry run, with how many there are", () => {
  const run = (nodes: number, id: string) =>
    ({ nodes, notes: [], run_folder: id, script: `#SBATCH --comment=${id}` }) as unknown as DryRun;
  const counts = alikeRuns([run(8, "a"), run(16, "b"), run(8, "c"), run(8, "d")]);
  assert.deepEqual(
    counts.map(({ run: { nodes }, count }) => [nodes, count]),
    [
      [8, 3],
      [16, 1],
    ],
  );
});

test("a backend is asked for where one is chosen", () => {
  assert.equal(submissionOf({ ...fields, backend: "cpu" }).backend, "cpu");
  assert.equal("backend" in submissionOf({ ...fields, backend: "" }), false);
});

test("no log is promised of a job that never started", () => {
  const ofJob = (state: JobState, started_at: string | null = null) => logWords({ state, started_at });
  assert.match(ofJob("pending").words, /not been found yet/);
  assert.deepEqual(ofJob("not_submitted"), {
    comes: false,
    words: "It was never queued: it has no log, and none will come.",
  });
  assert.equal(ofJob("cancelled").comes, false);
  assert.equal(ofJob("deadline_passed").comes, false);
  for (const state of ["failed", "ended", "timed_out", "completed"] as const) {
    assert.equal(ofJob(state).comes, true, `${state}, and nobody saw it start`);
    assert.match(ofJob(state).words, /whether it started is not known/);
  }
  assert.equal(ofJob("cancelled", "2026-03-14T23:07:56Z").comes, true);
  assert.equal(ofJob("failed", "2026-03-14T23:07:56Z").comes, true, "what its script printed");
});

test("Slurm is said to answer where it was asked and did", () => {
  const asked = "2026-03-14T23:07:56Z";
  const words = (slurm_error: string | null, slurm_asked_at: string | null) =>
    slurmWords({ slurm_error, slurm_asked_at });
  assert.match(words(null, null), /^This server has not asked it so far/);
  assert.match(words(null, asked), /^It answered/);
  assert.equal(words("squeue failed", asked), "squeue failed.");
});
