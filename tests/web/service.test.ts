// What is known of the service while it answers, and while it does not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refreshService, rootList, service, unanswered } from "../../web/src/state/service";

const answering = (async () => new Response('{"roots":[]}', { status: 200 })) as typeof fetch;
const silent = (async () => {
  throw new TypeError("fetch failed");
}) as typeof fetch;

const lost = () => unanswered.value;

test("a service is unanswered from its first silence to its next answer", async () => {
  globalThis.fetch = answering;
  await refreshService();
  assert.equal(lost(), null);
  assert.notEqual(service.value, null);
  globalThis.fetch = silent;
  await refreshService();
  assert.equal(service.value, null);
  assert.equal(lost()?.problem.title, "No answer from llmb-report");
  const since = "2026-03-14T23:07:56.000Z";
  const before = lost();
  assert.ok(before);
  unanswered.value = { ...before, since };
  await refreshService();
  assert.equal(lost()?.since, since);
  assert.notEqual(rootList.value, null, "the roots are known, not how they are");
  globalThis.fetch = answering;
  await refreshService();
  assert.equal(lost(), null);
});
