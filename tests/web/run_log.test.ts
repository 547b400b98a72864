// The lines of a log that grows while they are shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jobLogTextHref, runLogTextHref } from "../../web/src/api/client";
import { RunLogStore } from "../../web/src/state/run_log";

// Stands in for the server: the lines of one log of one-byte characters, as the API gives them.
function serve(log: { text: string }) {
  globalThis.fetch = (async (input: unknown) => {
    if (log.text === "") throw new TypeError("no answer");
    const query = new URL(String(input), "http://localhost").searchParams;
    const lines = [...log.text.matchAll(/[^\n]*\n|[^\n]+$/g)].map((match) => ({
      offset: match.index,
      text: match[0].replace("\n", ""),
      is_cut: false,
      next: match.index + match[0].length,
    }));
    const offset = Number(query.get("offset") ?? log.text.length - 1);
    const found = lines.findIndex(({ next }) => next > offset);
    const holder = found < 0 ? lines.length - 1 : found;
    const first = Math.max(0, holder - Number(query.get("before")));
    const shown = lines.slice(first, holder + 1 + Number(query.get("after")));
    const body = {
      run_id: 1,
      size_bytes: log.text.length,
      offset,
      lines: shown.map(({ next: _, ...line }) => line),
      at: holder - first,
      next_offset: shown.at(-1)?.next,
    };
    return new Response(JSON.stringify(body), { status: 200 });
  }) as typeof fetch;
}

const numbered = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => `line ${first + at}\n`).join("");

async function lookingAtEnd(text: string) {
  const log = { text };
  serve(log);
  const store = new RunLogStore(1);
  await store.lookAt("end");
  return { log, store };
}

const lastLine = (store: RunLogStore) => store.shown.value.lines.at(-1)?.text;

test("who sees the end of a log goes on seeing it while it grows", async () => {
  const { log, store } = await lookingAtEnd(numbered(0, 99));
  const first = store.shown.value.lines[0]?.text;
  log.text += numbered(100, 299);
  await store.follow(log.text.length, true);
  assert.equal(lastLine(store), "line 299");
  assert.equal(store.shown.value.lines[0]?.text, first);
  assert.equal(store.shown.value.followsEnd, true);
  assert.equal(store.hasLater.value, false);
});

test("a line that was half written is shown whole once it is", async () => {
  const { log, store } = await lookingAtEnd(`${numbered(0, 9)}half a`);
  assert.equal(lastLine(store), "half a");
  log.text += " line\nand another\n";
  await store.follow(log.text.length, true);
  assert.deepEqual(
    store.shown.value.lines.slice(-3).map(({ text }) => text),
    ["line 9", "half a line", "and another"],
  );
});

test("who does not see the end is offered what came", async () => {
  const { log, store } = await lookingAtEnd(`${numbered(0, 99)}half a`);
  log.text += " line\nand another\n";
  await store.follow(log.text.length, false);
  assert.equal(lastLine(store), "half a");
  assert.equal(store.hasLater.value, true);
  await store.showLater();
  assert.equal(lastLine(store), "and another");
  assert.equal(store.shown.value.lines.at(-2)?.text, "half a line");
  assert.equal(store.shown.value.followsEnd, false);
});

test("the end is followed over a burst, and however long", async () => {
  const { log, store } = await lookingAtEnd(numbered(0, 99));
  for (let first = 100; first < 5_000; first += 700) {
    log.text += numbered(first, first + 699);
    await store.follow(log.text.length, true);
    assert.equal(lastLine(store), `line ${first + 699}`);
  }
  for (let first = 5_000; first < 9_000; first += 400) {
    log.text += numbered(first, first + 399);
    await store.follow(log.text.length, true);
    assert.equal(lastLine(store), `line ${first + 399}`);
  }
  assert.ok(store.shown.value.lines.length <= 2_000);
});

test("a log of any length is read on, in either direction", async () => {
  serve({ text: numbered(0, 4_999) });
  const store = new RunLogStore(1);
  await store.lookAt(0);
  const firstLine = () => store.shown.value.lines[0]?.text;
  for (let turn = 0; turn < 100 && store.hasLater.value; turn += 1) await store.showLater();
  assert.deepEqual([firstLine(), lastLine(store)], ["line 3000", "line 4999"]);
  for (let turn = 0; turn < 100 && store.hasEarlier.value; turn += 1) await store.showEarlier();
  assert.deepEqual([firstLine(), lastLine(store)], ["line 0", "line 1999"]);
  assert.equal(store.hasLater.value, true);
  await store.showLater();
  const joint = store.shown.value.lines.slice(-102, -100).map(({ text }) => text);
  assert.deepEqual(joint, ["line 1999", "line 2000"]);
  assert.equal(store.shown.value.lines.length, 2_000);
});

test("lines stay though what came cannot be asked for", async () => {
  const { log, store } = await lookingAtEnd(numbered(0, 9));
  const sizeBytes = log.text.length;
  log.text = "";
  await store.follow(sizeBytes + 7, true);
  assert.equal(lastLine(store), "line 9");
  assert.equal(store.problem.value, null);
  assert.equal(store.hasLater.value, true);
});

test("what could not be asked for comes with what follows, for who saw the end", async () => {
  const { log, store } = await lookingAtEnd(numbered(0, 9));
  const before = log.text;
  log.text = "";
  await store.follow(before.length + 8, true);
  log.text = before + numbered(10, 12);
  await store.follow(log.text.length, true);
  assert.equal(lastLine(store), "line 12");
  assert.equal(store.hasLater.value, false);
});

test("the whole of a log has an address of its own", () => {
  assert.equal(runLogTextHref(7), "/api/v1/runs/7/log/text");
  assert.equal(jobLogTextHref(7, "batch"), "/api/v1/jobs/7/log/text?of=batch");
});
