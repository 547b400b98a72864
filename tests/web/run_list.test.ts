// The list of runs while one scrolls in it and chooses another: whose rows and whose cursor stand.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../web/src/api/types";
import { readListState } from "../../web/src/state/list_state";
import { RunListStore } from "../../web/src/state/run_list";

interface Question {
  query: URLSearchParams;
  answer: (body: unknown, status?: number) => void;
}

// Stands in for a slow server: each list of runs is answered when the test says so.
function serve(): Question[] {
  const asked: Question[] = [];
  globalThis.fetch = ((input: unknown, init?: RequestInit) => {
    const { pathname, searchParams: query } = new URL(String(input), "http://localhost");
    if (pathname !== "/api/v1/runs") return Promise.reject(new TypeError("no answer"));
    return new Promise<Response>((resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      const headers = { "content-type": "application/json" };
      const answer: Question["answer"] = (body, status = 200) =>
        resolve(new Response(JSON.stringify(body), { status, headers }));
      asked.push({ query, answer });
    });
  }) as typeof fetch;
  return asked;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

// Answers are read in several steps.
async function turns(): Promise<void> {
  for (let at = 0; at < 20; at += 1) await turn();
}

function page(first: number, count: number, next_cursor: string | null) {
  const runs = Array.from({ length: count }, (_, at) => ({ id: first + at, revision: 1 }) as Run);
  return { runs, next_cursor, total: 300, is_total_exact: true };
}

const stateOf = (text: string) => readListState(new URLSearchParams(text));
const kRefused = { title: "Bad request", detail: "the cursor is of another list" };

async function loaded(asked: Question[]): Promise<RunListStore> {
  const store = new RunListStore();
  void store.load(stateOf(""));
  asked.at(-1)?.answer(page(1, 100, "of the first list"));
  await turns();
  assert.equal(store.runs.value.length, 100);
  return store;
}

test("scrolling after another sort asks on from the new list, and only once that is there", async () => {
  const asked = serve();
  const store = await loaded(asked);
  void store.load(stateOf("sort=mfu"));
  void store.ensure(150);
  await turns();
  assert.deepEqual(asked.map(({ query }) => query.get("cursor")), [null, null]);
  asked.at(-1)?.answer(page(1, 100, "of the second list"));
  await turns();
  const last = asked.at(-1);
  assert.equal(last?.query.get("cursor"), "of the second list");
  assert.equal(last?.query.get("sort"), "mfu");
  last?.answer(page(101, 200, null));
  await turns();
  assert.equal(store.runs.value.length, 300);
  assert.equal(store.problem.value, null);
});

test("a page of the list before that is refused late is no problem of this one", async () => {
  const asked = serve();
  const store = await loaded(asked);
  void store.ensure(150);
  const late = asked.at(-1);
  late?.answer(kRefused, 400);
  void store.load(stateOf("sort=mfu"));
  await turns();
  assert.equal(store.problem.value, null);
  assert.equal(store.phase.value, "ready");
});

test("rows of another filter say so, and go where the new one has no answer", async () => {
  const asked = serve();
  const store = await loaded(asked);
  assert.equal(store.isOld.value, false);
  void store.load(stateOf("status=failed"));
  assert.deepEqual([store.isOld.value, store.runs.value.length], [true, 100]);
  asked.at(-1)?.answer({ title: "Too busy", detail: "" }, 400);
  await turns();
  assert.deepEqual([store.isOld.value, store.runs.value.length], [false, 0]);
  assert.equal(store.problem.value?.title, "Too busy");
});

test("rows of the same list stay where it cannot be asked for anew", async () => {
  const asked = serve();
  const store = await loaded(asked);
  void store.load(stateOf("pick=3"));
  assert.equal(store.isOld.value, false);
  asked.at(-1)?.answer({ title: "Too busy", detail: "" }, 400);
  await turns();
  assert.equal(store.runs.value.length, 100);
});

test("a list that could not be asked for anew is scrolled in as before", async () => {
  const asked = serve();
  const store = await loaded(asked);
  void store.load(stateOf("pick=3"));
  void store.load(stateOf("pick=3,4")); // gives the one before up
  asked.at(-1)?.answer({ title: "Too busy", detail: "" }, 400);
  await turns();
  const before = asked.length;
  void store.ensure(150);
  await turns();
  assert.equal(asked.length, before + 1);
  assert.equal(asked.at(-1)?.query.get("cursor"), "of the first list");
  asked.at(-1)?.answer(page(101, 200, null));
  await turns();
  assert.deepEqual([store.runs.value.length, store.problem.value], [300, null]);
});

test("a list that was refused has no cursor of the one before", async () => {
  const asked = serve();
  const store = await loaded(asked);
  void store.load(stateOf("status=failed"));
  asked.at(-1)?.answer(kRefused, 400);
  await turns();
  const before = asked.length;
  await store.ensure(150);
  assert.equal(asked.length, before);
});

test("no rows do not pass for the answer to the next choice, nor does its problem", async () => {
  const asked = serve();
  const store = new RunListStore();
  void store.load(stateOf("status=failed"));
  asked.at(-1)?.answer({ ...page(1, 0, null), total: 0 });
  await turns();
  assert.equal(store.phase.value, "ready");
  void store.load(stateOf("status=x"));
  asked.at(-1)?.answer(kRefused, 400);
  await turns();
  assert.equal(store.phase.value, "error");
  void store.load(stateOf("status=failed"));
  assert.deepEqual([store.phase.value, store.problem.value], ["loading", null]);
  asked.at(-1)?.answer({ ...page(1, 0, null), total: 0 });
  await turns();
  void store.load(stateOf(""));
  assert.equal(store.phase.value, "loading");
  asked.at(-1)?.answer(page(1, 100, "next"));
  await turns();
  assert.equal(store.phase.value, "ready");
  void store.load(stateOf("status=x"));
  asked.at(-1)?.answer(kRefused, 400);
  await turns();
  assert.deepEqual([store.phase.value, store.problem.value?.title], ["error", "Bad request"]);
  void store.load(stateOf("")); // its rows were dropped
  assert.deepEqual([store.phase.value, store.problem.value], ["loading", null]);
  assert.equal(store.isOld.value, false);
});
