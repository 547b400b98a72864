// What stands for the answer to one question while another is asked, and where it has no answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LastAnswer } from "../../web/src/state/answer";
import { RunPageStore } from "../../web/src/state/run_page";

const kNever = new AbortController().signal;
const refused = () => Promise.reject(new TypeError("no answer"));

test("an answer is known to be of the question before until the next has come", async () => {
  const last = new LastAnswer<number>();
  assert.equal(last.isOldFor("a"), false, "there is none");
  await last.ask("a", async () => 1, kNever);
  assert.equal(last.isOldFor("a"), false);
  assert.equal(last.isOldFor("b"), true);
  const asking = last.ask("b", async () => 2, kNever);
  assert.deepEqual([last.value.value, last.isOldFor("b")], [1, true]);
  await asking;
  assert.deepEqual([last.value.value, last.isOldFor("b")], [2, false]);
});

test("where a question has no answer, that of another goes, and its own stays", async () => {
  const last = new LastAnswer<number>();
  await last.ask("a", async () => 1, kNever);
  await last.ask("a", refused, kNever);
  assert.equal(last.value.value, 1);
  assert.ok(last.problem.value);
  const asking = last.ask("b", refused, kNever);
  assert.equal(last.problem.value, null, "it is of the question before");
  await asking;
  assert.equal(last.value.value, null);
  assert.ok(last.problem.value);
});

test("a question that is given up leaves what is shown", async () => {
  const last = new LastAnswer<number>();
  await last.ask("a", async () => 1, kNever);
  const abort = () => Promise.reject(new DOMException("given up", "AbortError"));
  await last.ask("b", abort, kNever);
  assert.deepEqual([last.value.value, last.problem.value, last.isOldFor("b")], [1, null, true]);
});

test("an answer that comes late does not stand over that to a newer question", async () => {
  const last = new LastAnswer<number>();
  let tell = (_: number) => {};
  let refuse = (_: unknown) => {};
  const older = last.ask("a", () => new Promise<number>((resolve) => (tell = resolve)), kNever);
  const failing = last.ask("a", () => new Promise<number>((_, no) => (refuse = no)), kNever);
  await last.ask("a", async () => 3, kNever);
  tell(1);
  refuse(new TypeError("no answer"));
  await Promise.all([older, failing]);
  assert.deepEqual([last.value.value, last.problem.value], [3, null]);
});

test("an answer that comes late does not stand over a newer question's failure", async () => {
  const last = new LastAnswer<number>();
  await last.ask("a", async () => 1, kNever);
  let tell = (_: number) => {};
  const older = last.ask("a", () => new Promise<number>((resolve) => (tell = resolve)), kNever);
  await last.ask("a", refused, kNever);
  tell(2);
  await older;
  assert.equal(last.value.value, 1);
  assert.ok(last.problem.value);
});

// Answers all that is asked of a run, but for windows that hold "refused".
function serveRun(): void {
  globalThis.fetch = (async (input: unknown) => {
    const { searchParams } = new URL(String(input), "http://localhost");
    const window = searchParams.get("window") ?? "11-44";
    const isRefused = window === "refused";
    const body = isRefused ? { title: "Bad request", detail: "" } : { window, step_count: 0 };
    return new Response(JSON.stringify(body), {
      status: isRefused ? 400 : 200,
      headers: { "content-type": "application/json" },
    });
  }) as typeof fetch;
}

test("a run's figures go where those of the window that was chosen do not come", async () => {
  serveRun();
  const store = new RunPageStore(1);
  await store.load("");
  const choosing = store.measureOver("window=20-30");
  assert.deepEqual([store.statistics.value?.window, store.areFiguresOld.value], ["11-44", true]);
  await choosing;
  assert.deepEqual([store.statistics.value?.window, store.areFiguresOld.value], ["20-30", false]);
  await store.measureOver("window=refused");
  assert.deepEqual([store.statistics.value, store.metrics.value], [null, null]);
  assert.equal(store.figuresProblem.value?.title, "Bad request");
  assert.equal(store.areFiguresOld.value, false);
  const next = store.measureOver("window=30-40");
  assert.equal(store.figuresProblem.value, null, "it is of the choice before");
  await next;
  assert.equal(store.statistics.value?.window, "30-40");
});

type Answer = (status: number) => void;

// Each answer about `what` of a run is given when its entry of `answers` is called, in any order.
function serveLate(what: RegExp, answers: Answer[]): void {
  globalThis.fetch = (async (input: unknown) => {
    const { pathname } = new URL(String(input), "http://localhost");
    let turn = 0;
    let status = 200;
    if (what.test(pathname)) {
      const answer = new Promise<number>((resolve) => (turn = answers.push(resolve)));
      status = await answer;
    }
    const body = { steps_left_out: turn, step_count: turn, title: "Unavailable", detail: "" };
    return new Response(JSON.stringify(body), {
      status,
      headers: { "content-type": "application/json" },
    });
  }) as typeof fetch;
}

async function untilAsked(answers: Answer[], times: number): Promise<void> {
  while (answers.length < times) await new Promise((resolve) => setImmediate(resolve));
}

const kOfRun = /\/runs\/1$/;
const kOfWindow = /\/statistics$/;

// A page whose newer question was answered so, and then the older one well.
async function answeredLate(what: RegExp, newerStatus: number): Promise<RunPageStore> {
  const answers: Answer[] = [];
  serveLate(what, answers);
  const store = new RunPageStore(1);
  const older = store.load("");
  const newer = store.refresh();
  await untilAsked(answers, 2);
  answers[1]?.(newerStatus);
  await newer;
  answers[0]?.(200);
  await older;
  return store;
}

test("a run's older figures do not stand over newer ones of the same window", async () => {
  const store = await answeredLate(kOfWindow, 200);
  assert.equal(store.statistics.value?.steps_left_out, 2);
});

test("a run's older figures do not stand over a newer failure of the same window", async () => {
  const store = await answeredLate(kOfWindow, 503);
  assert.equal(store.figuresProblem.value?.title, "Unavailable");
  assert.equal(store.statistics.value, null);
});

test("an older answer about a run does not hide that a newer question failed", async () => {
  const store = await answeredLate(kOfRun, 503);
  assert.equal(store.problem.value?.title, "Unavailable");
  assert.equal(store.run.value, null);
});

test("a run that is not there is asked for, and nothing of it", async () => {
  const asked: string[] = [];
  globalThis.fetch = (async (input: unknown) => {
    asked.push(String(input));
    const body = JSON.stringify({ title: "Not found", detail: "" });
    return new Response(body, { status: 404, headers: { "content-type": "application/json" } });
  }) as typeof fetch;
  const store = new RunPageStore(1);
  await store.load("");
  assert.equal(store.problem.value?.title, "Not found");
  assert.deepEqual(asked, ["/api/v1/runs/1"]);
});
