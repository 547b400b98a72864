// The live stream and what it sets off: reconnects, resets, patched rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Live, parseChange, type Stream } from "../../web/src/api/live";
import type { Run, RunChange } from "../../web/src/api/types";
import { Coalescer } from "../../web/src/state/coalesce";
import { readListState } from "../../web/src/state/list_state";
import { runChoices } from "../../web/src/state/run_choices";
import { RunListStore } from "../../web/src/state/run_list";
import { isStillSorted } from "../../web/src/state/run_order";

class FakeStream implements Stream {
  readyState = 1;
  private listeners = new Map<string, ((event: MessageEvent<string>) => void)[]>();
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }
  emit(type: string, data = ""): void {
    for (const listener of this.listeners.get(type) ?? []) {
      listener({ data } as MessageEvent<string>);
    }
  }
  close(): void {
    this.readyState = 2;
  }
}

function liveWithFakes() {
  const streams: FakeStream[] = [];
  const timers: { action: () => void; delayMs: number }[] = [];
  const heard: (RunChange | "reset")[] = [];
  const clock = { nowMs: 0 };
  const live = new Live(
    () => {
      const stream = new FakeStream();
      streams.push(stream);
      return stream;
    },
    (action, delayMs) => timers.push({ action, delayMs }),
    () => clock.nowMs,
  );
  live.listen({ onRun: (change) => heard.push(change), onReset: () => heard.push("reset") });
  return { live, streams, timers, heard, clock };
}

test("changes and resets reach who listens, nonsense does not", () => {
  const { live, streams, heard } = liveWithFakes();
  live.start();
  streams[0]?.emit("open");
  assert.equal(live.connection.value, "live");
  streams[0]?.emit("run", '{"run_id":7,"kind":"grown"}');
  streams[0]?.emit("run", "{");
  streams[0]?.emit("reset", "{}");
  assert.deepEqual(heard, [{ run_id: 7, kind: "grown" }, "reset"]);
  assert.equal(parseChange('{"run_id":"7"}'), null);
});

test("after a break that the browser mends all is reloaded, for who knows what was missed", () => {
  const { live, streams, timers, heard } = liveWithFakes();
  live.start();
  streams[0]?.emit("open");
  if (streams[0]) streams[0].readyState = 0;
  streams[0]?.emit("error");
  assert.equal(live.connection.value, "lost");
  streams[0]?.emit("open");
  assert.equal(live.connection.value, "live");
  assert.equal(timers.length, 0);
  assert.deepEqual(heard, ["reset"]);
});

test("a stream that opens late, or only after it broke, has missed what came before", () => {
  const late = liveWithFakes();
  late.live.start();
  late.clock.nowMs = 20_000;
  late.streams[0]?.emit("open");
  assert.deepEqual(late.heard, ["reset"]);
  const broken = liveWithFakes();
  broken.live.start();
  if (broken.streams[0]) broken.streams[0].readyState = 2;
  broken.streams[0]?.emit("error");
  broken.timers[0]?.action();
  broken.streams[1]?.emit("open");
  assert.deepEqual(broken.heard, ["reset"]);
  // Loaded in a tab that nobody saw, or put away before its stream was open.
  const seen = liveWithFakes();
  seen.live.start();
  seen.live.stop();
  seen.clock.nowMs = 600_000;
  seen.live.start();
  seen.streams[1]?.emit("open");
  assert.deepEqual(seen.heard, ["reset"]);
  const soon = liveWithFakes();
  soon.live.start();
  soon.streams[0]?.emit("open");
  assert.deepEqual(soon.heard, []);
});

test("a refused stream is opened anew, more and more slowly, and then all is reloaded", () => {
  const { live, streams, timers, heard } = liveWithFakes();
  live.start();
  streams[0]?.emit("open");
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const stream = streams[attempt];
    assert.ok(stream);
    stream.readyState = 2;
    stream.emit("error");
    timers[attempt]?.action();
  }
  const delays = timers.map((timer) => timer.delayMs);
  assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
  streams.at(-1)?.emit("open");
  assert.deepEqual(heard, ["reset"]);
});

test("a page out of sight holds no stream, and reloads when it is seen again", () => {
  const { live, streams, timers, heard } = liveWithFakes();
  live.start();
  streams[0]?.emit("open");
  streams[0]?.close();
  streams[0]?.emit("error");
  live.stop();
  timers[0]?.action();
  assert.equal(streams.length, 1, "the retry that was due opens nothing");
  live.start();
  streams[1]?.emit("open");
  assert.equal(streams[0]?.readyState, 2);
  assert.equal(live.connection.value, "live");
  assert.deepEqual(heard, ["reset"]);
});

test("a burst of changes is flushed once", async () => {
  const timers: (() => void)[] = [];
  const flushed: number[][] = [];
  const bursts = new Coalescer(
    100,
    async (ids) => {
      flushed.push(ids);
    },
    (action) => timers.push(action),
  );
  for (const id of [1, 2, 1, 1]) bursts.add(id);
  assert.equal(timers.length, 1);
  timers[0]?.();
  await Promise.resolve();
  assert.deepEqual(flushed, [[1, 2]]);
  bursts.stop();
  bursts.add(3);
  timers[1]?.();
  assert.equal(flushed.length, 1);
});

const run = (id: number, changes: Partial<Run> = {}) =>
  ({
    id,
    revision: 1,
    is_superseded: false,
    marks: [],
    status: "running",
    workload: "grok1",
    dtype: "fp8",
    gpu_type: "h100",
    ...changes,
  }) as Run;

// Stands in for the server: answers by path, and remembers what was asked.
function serve(answers: Record<string, unknown>) {
  const asked: string[] = [];
  globalThis.fetch = (async (input: unknown) => {
    const url = new URL(String(input), "http://localhost");
    asked.push(url.pathname);
    const body = answers[url.pathname];
    return new Response(JSON.stringify(body ?? { title: "No such run", detail: "gone" }), {
      status: body ? 200 : 404,
      headers: { "content-type": "application/json" },
    });
  }) as typeof fetch;
  return asked;
}

async function settled(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !isDone(); turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(isDone(), "did not come about within five seconds");
}

test("a row that changed is patched in place, and an older answer does not undo it", async () => {
  const list = { runs: [run(1), run(2, { revision: 5 })], next_cursor: null, total: 2 };
  serve({
    "/api/v1/runs": list,
    "/api/v1/runs/1": run(1, { revision: 2, last_iteration: 23 }),
    "/api/v1/runs/2": run(2, { revision: 4, last_iteration: 1 }),
  });
  const store = new RunListStore();
  await store.load(readListState(new URLSearchParams()));
  assert.equal(store.phase.value, "ready");
  assert.deepEqual(runChoices.value.dtype, ["fp8"]);
  store.onRun({ run_id: 1, kind: "grown" });
  store.onRun({ run_id: 2, kind: "grown" });
  await settled(() => store.runs.value[0]?.last_iteration === 23);
  assert.deepEqual(
    store.runs.value.map((each) => [each.id, each.revision]),
    [
      [1, 2],
      [2, 5],
    ],
  );
});

test("a list answered late does not undo a patch, and no run stands twice", async () => {
  const list = { runs: [run(1, { revision: 3 }), run(2)], next_cursor: null, total: 2 };
  serve({ "/api/v1/runs": list });
  const store = new RunListStore();
  const state = readListState(new URLSearchParams());
  await store.load(state);
  list.runs = [run(2), run(1, { revision: 2 }), run(2)];
  await store.load(state);
  assert.deepEqual(
    store.runs.value.map((each) => [each.id, each.revision]),
    [
      [2, 1],
      [1, 3],
    ],
  );
});

test("after events were lost a lower revision counts: the database may be another", async () => {
  const list = { runs: [run(1, { revision: 9 }), run(2, { revision: 9 })], next_cursor: null };
  const answers = { "/api/v1/runs": { ...list, total: 2 }, "/api/v1/runs/2": {} };
  serve(answers);
  const store = new RunListStore();
  const state = readListState(new URLSearchParams());
  await store.load(state);
  store.onReset();
  answers["/api/v1/runs/2"] = run(2, { revision: 3, last_iteration: 23 });
  store.onRun({ run_id: 2, kind: "grown" });
  await settled(() => store.runs.value[1]?.last_iteration === 23);
  answers["/api/v1/runs"].runs = [run(1, { revision: 2 }), run(2, { revision: 2 })];
  await store.load(state);
  assert.deepEqual(
    store.runs.value.map((each) => each.revision),
    [2, 3],
    "but what came since is not undone",
  );
});

test("a run whose status leaves the filter leaves the list", async () => {
  serve({
    "/api/v1/runs": { runs: [run(1), run(2)], next_cursor: null, total: 2 },
    "/api/v1/runs/1": run(1, { revision: 2, status: "complete" }),
  });
  const store = new RunListStore();
  await store.load(readListState(new URLSearchParams("status=running")));
  store.onRun({ run_id: 1, kind: "status" });
  await settled(() => store.runs.value.length === 1);
  assert.equal(store.total.value, 1);
});

test("a new run reloads the list", async () => {
  const list = { runs: [run(1)], next_cursor: null, total: 1 };
  serve({ "/api/v1/runs": list });
  const store = new RunListStore();
  await store.load(readListState(new URLSearchParams()));
  list.runs = [run(2), run(1)];
  store.onRun({ run_id: 2, kind: "added" });
  await settled(() => store.runs.value.length === 2);
});

test("a run that is there no longer is not asked for", async () => {
  const list = { runs: [run(1), run(2)], next_cursor: null, total: 2 };
  const asked = serve({ "/api/v1/runs": list });
  const store = new RunListStore();
  await store.load(readListState(new URLSearchParams({ include_superseded: "true" })));
  list.runs = [run(2)];
  store.onRun({ run_id: 1, kind: "removed" });
  await settled(() => store.runs.value.length === 1);
  assert.ok(!asked.includes("/api/v1/runs/1"));
});

// A list of three by step time, the run of the middle of which then changes.
async function listWithChange(sort: string, changes: Partial<Run>, next_cursor: string | null) {
  const runs = [1, 2, 3].map((id) =>
    run(id, { step_time_s_mean: id, launched_at: `2026-01-0${id}` }),
  );
  if (sort.startsWith("-")) runs.reverse();
  const asked = serve({
    "/api/v1/runs": { runs, next_cursor, total: 3, is_total_exact: true },
    "/api/v1/runs/2": run(2, { ...runs[1], revision: 2, last_iteration: 23, ...changes }),
  });
  const store = new RunListStore();
  await store.load(readListState(new URLSearchParams(sort && { sort })));
  store.onRun({ run_id: 2, kind: "grown" });
  await settled(() => store.runs.value[1]?.last_iteration === 23);
  return { store, asked };
}

test("a sorted list whose row changed out of its place keeps the rows, and says so", async () => {
  for (const sort of ["step_time_s_mean", "-step_time_s_mean"]) {
    const { store } = await listWithChange(sort, { step_time_s_mean: 7.5 }, null);
    const [first, second, third] = sort.startsWith("-") ? [3, 2, 1] : [1, 2, 3];
    assert.deepEqual(store.runs.value.map(({ id }) => id), [first, second, third]);
    assert.equal(store.isOrderOld.value, true);
    await store.load(readListState(new URLSearchParams({ sort })));
    assert.equal(store.isOrderOld.value, true, "the answer is older than the row");
  }
  const unknown = await listWithChange("step_time_s_mean", { step_time_s_mean: null }, null);
  assert.equal(unknown.store.isOrderOld.value, true, "runs without a value come last");
});

test("a row that changed within its place leaves the list sorted", async () => {
  for (const changes of [{}, { step_time_s_mean: 2.5 }, { step_time_s_mean: 3 }]) {
    const { store } = await listWithChange("step_time_s_mean", changes, null);
    assert.equal(store.isOrderOld.value, false, JSON.stringify(changes));
  }
  const tied = await listWithChange("step_time_s_mean", { step_time_s_mean: 1 }, null);
  assert.equal(tied.store.isOrderOld.value, false, "the id decides");
  const lower = await listWithChange("-step_time_s_mean", { step_time_s_mean: 1.5 }, null);
  assert.equal(lower.store.isOrderOld.value, false);
});

test("the newest first is put right by itself", async () => {
  const { store, asked } = await listWithChange("", { launched_at: "2026-02-01" }, null);
  const before = asked.length;
  await settled(() => asked.slice(before).includes("/api/v1/runs"));
  assert.equal(store.isOrderOld.value, false);
});

test("where the last row loaded belongs is not known while there are more", () => {
  const last = run(2, { step_time_s_mean: 2 });
  const before = new Map([[2, last]]);
  const after = [run(1, { step_time_s_mean: 1 }), { ...last, step_time_s_mean: 9 }];
  assert.equal(isStillSorted(before, after, "step_time_s_mean", true), true);
  assert.equal(isStillSorted(before, after, "step_time_s_mean", false), false);
});

test("a refused request is shown with the server's own reason", async () => {
  serve({});
  const store = new RunListStore();
  await store.load(readListState(new URLSearchParams()));
  assert.equal(store.phase.value, "error");
  assert.equal(store.problem.value?.title, "No such run");
  assert.equal(store.problem.value?.detail, "gone");
});
