// What the form that submits jobs sends, and what it refuses to send.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobState } from "../../web/src/api/types";
import { sentWords } from "../../web/src/job_words";
import {
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
    "4 jobs sent: 2 running, 1 on the way to Slurm, 1 not submitted",
  );
});
