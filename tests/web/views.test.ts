// The reader's own views, which every page of one browser shares.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { forgetView, kViewsMax, savedViews, saveView } from "../../web/src/state/views";

const kKey = "llmb.views";
const stored = new Map<string, string>();
globalThis.localStorage = {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, text: string) => void stored.set(key, text),
} as Storage;

const view = (name: string) => ({ name, query: "status=failed", columns: null });
const names = () => savedViews.value.map(({ name }) => name);
const elsewhere = (...kept: string[]) => stored.set(kKey, JSON.stringify(kept.map(view)));

beforeEach(() => {
  elsewhere();
});

test("a view that another page kept outlives what this one keeps and forgets", () => {
  saveView(view("mine"));
  elsewhere("mine", "theirs");
  saveView(view("mine, too"));
  assert.deepEqual(names(), ["mine", "theirs", "mine, too"]);
  elsewhere("mine", "theirs", "mine, too", "theirs, too");
  forgetView("mine");
  assert.deepEqual(names(), ["theirs", "mine, too", "theirs, too"]);
  assert.deepEqual(JSON.parse(stored.get(kKey) ?? ""), savedViews.value);
});

test("none is dropped for one that there is no room for", () => {
  const all = Array.from({ length: kViewsMax }, (_, at) => `view ${at}`);
  elsewhere(...all);
  saveView(view("one too many"));
  assert.deepEqual(names(), all);
  saveView(view("view 0"));
  assert.deepEqual(names(), [...all.slice(1), "view 0"], "one of the same name is replaced");
});
