// What the filters of every page offer.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Run, RunChoices } from "../../web/src/api/types";
import {
  askRunChoices,
  askRunChoicesOnce,
  doubtRunChoices,
  learnRunChoices,
  runChoices,
} from "../../web/src/state/run_choices";

const kBefore = runChoices.value;
const kSetTimeout = globalThis.setTimeout;

afterEach(() => {
  runChoices.value = kBefore;
  doubtRunChoices();
});

// Answers with `choices`, or not at all.
function serve(choices: Partial<RunChoices> | null): void {
  globalThis.fetch = (async () => {
    if (!choices) throw new TypeError("fetch failed");
    const all = { ...kBefore, cluster: [], ...choices };
    return new Response(JSON.stringify(all), { status: 200 });
  }) as typeof fetch;
}

test("a workload of two names is one choice, and counts of GPUs stand in their order", async () => {
  serve({ workload: ["grok1", "pretrain_grok1"], gpu_count: [8, 512, 64], cut: ["release"] });
  await askRunChoices();
  const { workload, gpu_count, cut } = runChoices.value;
  assert.deepEqual([workload, gpu_count, cut], [["grok1"], ["8", "64", "512"], ["release"]]);
});

test("what was learnt of runs that were seen stays when all are asked for", async () => {
  learnRunChoices([{ workload: "pretrain_grok1", dtype: "fp8", gpu_count: 8 } as Run]);
  serve({ workload: ["grok1", "llama3"], dtype: ["bf16"] });
  await askRunChoices();
  assert.deepEqual(runChoices.value.workload, ["llama3", "pretrain_grok1"]);
  assert.deepEqual(runChoices.value.dtype, ["bf16", "fp8"]);
  assert.deepEqual(runChoices.value.gpu_count, ["8"]);
});

// Whether a list, with its first rows, sets out to ask; what it would do is not waited for.
function isListAsking(): boolean {
  const due: unknown[] = [];
  globalThis.setTimeout = ((action: unknown) => due.push(action)) as never;
  askRunChoicesOnce();
  globalThis.setTimeout = kSetTimeout;
  return due.length > 0;
}

test("a list asks for them once, again after a refusal, and after events were missed", async () => {
  assert.equal(isListAsking(), true);
  assert.equal(isListAsking(), false, "that is on its way");
  serve(null);
  await askRunChoices();
  assert.equal(isListAsking(), true, "after a refusal");
  doubtRunChoices();
  serve({});
  await askRunChoices();
  assert.equal(isListAsking(), false, "another page has asked");
  doubtRunChoices();
  assert.equal(isListAsking(), true, "after events were missed");
});
