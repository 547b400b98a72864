// What is known of the service while it answers, and while it does not.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { fetchJob, fetchReadiness, Problem } from "../../web/src/api/client";
import { live } from "../../web/src/api/live";
import { jobsAreOn } from "../../web/src/state/jobs";
import {
  nowMs,
  refreshService,
  rootList,
  service,
  startService,
  unanswered,
} from "../../web/src/state/service";

const answering = (async () =>
  new Response('{"roots":[],"jobs_are_on":true}', { status: 200 })) as typeof fetch;
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
  assert.equal(jobsAreOn(), true, "as it told last");
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

// A server that takes questions and answers none. Deadlines are counted off here.
function stoppedServer(t: TestContext) {
  const deadlines: (() => void)[] = [];
  const counted = { questions: 0 };
  const usual = globalThis.setTimeout;
  t.after(() => {
    globalThis.setTimeout = usual;
  });
  globalThis.setTimeout = ((action: () => void) => deadlines.push(action)) as never;
  globalThis.fetch = ((_: unknown, { signal }: RequestInit) => {
    counted.questions += 1;
    return new Promise((_, fail) => {
      signal?.addEventListener("abort", () => fail(new DOMException("", "AbortError")));
    });
  }) as typeof fetch;
  return { deadlines, counted };
}

test("a question that is never answered ends at its deadline, and is asked once until then", async (t) => {
  globalThis.fetch = answering;
  await refreshService();
  const { deadlines, counted } = stoppedServer(t);
  const first = refreshService();
  const asked = counted.questions;
  await refreshService();
  assert.equal(counted.questions, asked, "one question after the other");
  assert.equal(lost(), null);
  for (const end of deadlines) end();
  await first;
  assert.match(lost()?.problem.detail ?? "", /not answered within 30 s/);
  const next = refreshService();
  assert.equal(counted.questions, 2 * asked);
  for (const end of deadlines) end();
  await next;
});

test("who asked may give up before the deadline", async (t) => {
  stoppedServer(t);
  const abort = new AbortController();
  const job = fetchJob(1, abort.signal);
  abort.abort();
  await assert.rejects(job, { name: "AbortError" });
});

test("a service that is not ready gives its causes", async () => {
  const body = JSON.stringify({ causes: [{ cause: "disk_full", detail: "none left" }] });
  globalThis.fetch = (async () => new Response(body, { status: 503 })) as typeof fetch;
  assert.equal((await fetchReadiness())[0]?.cause, "disk_full");
});

test("the time is the server's, whatever this machine's clock says", async () => {
  const kHourMs = 3_600_000;
  const saying = (date: string) => {
    globalThis.fetch = (async () => new Response("{}", { headers: { date } })) as typeof fetch;
  };
  const aheadMs = () => nowMs.value - Date.now();
  const isNear = (ms: number) => assert.ok(Math.abs(aheadMs() - ms) < kHourMs / 2, `${aheadMs()}`);
  isNear(0);
  saying(new Date(Date.now() + 2 * kHourMs).toUTCString());
  await refreshService();
  isNear(2 * kHourMs);
  saying("no date");
  await refreshService();
  isNear(2 * kHourMs);
  saying(new Date().toUTCString());
  await refreshService();
  isNear(0);
});

test("how a service is doing is asked at once when its stream breaks, and when the page is seen", async (t) => {
  const page = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  const usual = { setInterval: globalThis.setInterval, setTimeout: globalThis.setTimeout };
  const delayed: (() => void)[] = [];
  Object.assign(globalThis, {
    document: page,
    setInterval: () => 0,
    setTimeout: (action: () => void) => delayed.push(action),
  });
  t.after(() => Object.assign(globalThis, usual));
  let asked = 0;
  globalThis.fetch = ((...request) => {
    asked += 1;
    return answering(...request);
  }) as typeof fetch;
  const newlyAsked = async () => {
    await new Promise((done) => setImmediate(done));
    const count = asked;
    asked = 0;
    return count;
  };
  startService();
  const once = await newlyAsked();
  assert.ok(once > 0);
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(await newlyAsked(), 0, "nobody sees it");
  page.visibilityState = "visible";
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(await newlyAsked(), once);
  live.connection.value = "live";
  assert.equal(await newlyAsked(), 0, "all is as it was told");
  delayed.length = 0;
  live.connection.value = "lost";
  assert.equal(await newlyAsked(), once);
  assert.ok(delayed.length > 0, "a server that ends may have answered still");
  unanswered.value = { since: "", problem: new Problem(0, "gone", "") };
  live.connection.value = "live";
  assert.equal(await newlyAsked(), once, "it is there again");
});
