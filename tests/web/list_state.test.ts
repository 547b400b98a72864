// The runs page's URL, and what follows from it.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  apiQuery,
  exportHref,
  isFiltered,
  listKey,
  nextSort,
  readListState,
  sortDirection,
  toggled,
  withoutFilters,
  writeListState,
} from "../../web/src/state/list_state";
import { addressFilters } from "../../web/src/state/address_filters";
import { unknownKeyWords } from "../../web/src/state/unknown_keys";
import {
  compareHref,
  excessOf,
  excessWords,
  readPicks,
  strangerWords,
  togglePick,
} from "../../web/src/state/picks";
import { formatWorkload } from "../../web/src/format";
import { pageOf } from "../../web/src/state/location";
import { choicesByWord } from "../../web/src/state/one_name";
import { askedWindow, parseWindow, windowHolds, windowProblem } from "../../web/src/state/window";

const stateOf = (query: string) => readListState(new URLSearchParams(query));

test("a URL and its state are the same thing", () => {
  const query = "q=gpus512&status=failed&dtype=fp8_cs&sort=-step_time_s_mean&pick=3%2C7";
  assert.equal(writeListState(stateOf(query)).toString(), query);
  assert.equal(writeListState(stateOf("")).toString(), "");
});

test("the API is asked for what the page filters by", () => {
  const query = apiQuery(stateOf("q=%20grok%20&workload=pretrain_grok1"), 50, "abc");
  assert.equal(query.get("q"), "grok");
  assert.equal(query.get("workload"), "pretrain_grok1");
  assert.equal(query.get("sort"), "-launched_at");
  assert.equal(query.get("cursor"), "abc");
  assert.equal(query.has("status"), false);
});

test("several values of a filter, and ranges, stand in the URL and in the question", () => {
  const query = "status=failed&status=invalid&mark=none&mfu_at_least=0.3";
  assert.equal(writeListState(stateOf(query)).toString(), query);
  assert.deepEqual(apiQuery(stateOf(query), 50, null).getAll("status"), ["failed", "invalid"]);
  assert.equal(isFiltered(stateOf("speed_against_reference_at_most=1")), true);
  assert.equal(
    exportHref(stateOf("dtype=fp8&pick=3"), "csv"),
    "/api/v1/runs.csv?dtype=fp8&sort=-launched_at",
  );
  assert.deepEqual(toggled(["a"], "b"), ["a", "b"]);
  assert.deepEqual(toggled(["a", "b"], "a"), ["b"]);
});

test("every filter of the API is kept, asked for and exported", () => {
  const query =
    "status=failed&workload=grok1&model_size=314b&dtype=fp8&gpu_type=gb200&gpu_count=512&" +
    "gpu_count=1024&release=25.08&cluster=eos&failure_cause=hung&mark=implausible&experiment=e&" +
    "job_id=7&root_id=2&since=2025-12-20&before=2025-12-23T05%3A00%3A00Z&include_superseded=true&" +
    "mfu_at_least=0.2&mfu_at_most=0.6";
  assert.equal(writeListState(stateOf(query)).toString(), query);
  const href = `/api/v1/runs.ndjson?${query}&sort=-launched_at`;
  assert.equal(exportHref(stateOf(query), "ndjson"), href);
  const asked = apiQuery(stateOf(query), 50, null);
  for (const [key, value] of new URLSearchParams(query)) {
    assert.ok(asked.getAll(key).includes(value), key);
    assert.equal(isFiltered(stateOf(`${key}=${encodeURIComponent(value)}`)), true, key);
  }
  assert.equal(writeListState(withoutFilters(stateOf(query))).toString(), "");
  assert.equal(unknownKeyWords({ path: "/runs", query: new URLSearchParams(query) }), "");
});

test("what is the default anyway is no filter", () => {
  assert.equal(isFiltered(stateOf("include_superseded=false&since=&before=%20")), false);
  assert.equal(writeListState(stateOf("include_superseded=false")).toString(), "");
});

test("what an address asks for that the page does not know is told", () => {
  const words = (text: string, path = "/runs") =>
    unknownKeyWords({ path, query: new URLSearchParams(text) });
  assert.equal(words("q=a&sort=experiment&pick=3"), "");
  assert.equal(
    words("xyz=1&xyz=2&q=a"),
    "The address asks for 'xyz', which this page does not know and leaves out.",
  );
  assert.match(words("gpus=8&limit=5"), /asks for 'gpus', 'limit', which .* leaves out\.$/);
  assert.equal(words("runs=1,2&window=20-30", "/compare"), "");
  assert.match(words("runs=1,2&foo=1", "/compare"), /'foo'/);
  assert.equal(words("window=20-30&without=checkpoint", "/runs/7"), "");
  assert.match(words("window=20-30&include=traced", "/runs/7"), /^The address asks for 'include'/);
  assert.equal(words("foo=1", "/nowhere"), "", "there is no page");
});

test("a filter that has no field is named, and can be taken away", () => {
  const state = stateOf("q=a&job_id=7&job_id=8&root_id=2&root_id=9&include_superseded=true");
  const filters = addressFilters(state, [{ id: 2, path: "/lustre/llmb" }]);
  assert.deepEqual(
    filters.map(({ label, value }) => `${label} ${value}`),
    ["job 7", "job 8", "tree /lustre/llmb", "tree 9", "with superseded runs"],
  );
  assert.deepEqual(filters[0]?.without, { ...state, job_id: ["8"] });
  assert.deepEqual(filters[4]?.without, { ...state, include_superseded: "" });
  assert.deepEqual(addressFilters(stateOf("status=failed&since=2025-12-20"), []), []);
});

test("a pick leaves the list the same, another filter does not", () => {
  assert.equal(listKey(stateOf("q=a&pick=3")), listKey(stateOf("q=a")));
  assert.notEqual(listKey(stateOf("q=a")), listKey(stateOf("q=b")));
});

test("clearing keeps the order", () => {
  const cleared = withoutFilters(stateOf("q=a&status=failed&sort=experiment"));
  assert.equal(isFiltered(cleared), false);
  assert.equal(cleared.sort, "experiment");
});

test("a column sorts its own way first, then the other", () => {
  const first = nextSort("-launched_at", "step_time_s_mean", "ascending");
  assert.equal(first, "step_time_s_mean");
  assert.equal(nextSort(first, "step_time_s_mean", "ascending"), "-step_time_s_mean");
  assert.equal(nextSort("x", "tflops_per_gpu_mean", "descending"), "-tflops_per_gpu_mean");
  assert.equal(sortDirection("-launched_at", "launched_at"), "descending");
  assert.equal(sortDirection("-launched_at", "grown_at"), null);
});

test("paths name pages", () => {
  assert.deepEqual(pageOf("/"), { name: "board" });
  assert.deepEqual(pageOf("/runs"), { name: "runs" });
  assert.deepEqual(pageOf("/runs/17"), { name: "run", id: 17 });
  assert.deepEqual(pageOf("/jobs/3/"), { name: "job", id: 3 });
  assert.deepEqual(pageOf("/runs/x"), { name: "unknown" });
  assert.deepEqual(pageOf("/runs/17/steps"), { name: "unknown" });
});

test("windows are two iterations in order", () => {
  assert.deepEqual(parseWindow("11-44"), { first: 11, last: 44 });
  assert.deepEqual(parseWindow(" 35 – 44 "), { first: 35, last: 44 });
  assert.equal(parseWindow("44-11"), null);
  assert.deepEqual(parseWindow("11"), { first: 11, last: 11 });
  assert.equal(parseWindow("-1-5"), null);
  assert.match(windowProblem("44-11") ?? "", /after/);
  assert.match(windowProblem("eleven") ?? "", /hyphen/);
  assert.equal(windowProblem("0-0"), null);
  assert.equal(askedWindow(" 35 – 44 "), "35-44");
  assert.equal(askedWindow(" Last "), "last");
  assert.equal(askedWindow(" 7 "), "7-7");
  assert.equal(askedWindow("7-7"), "7-7", "as the API prints it");
  assert.equal(askedWindow(" "), "");
  assert.equal(askedWindow("44-11"), null);
  assert.equal(windowHolds({ first: 11, last: 44 }, 44), true);
  assert.equal(windowHolds({ first: 11, last: 44 }, 45), false);
  assert.equal(windowHolds(null, 1), false);
});

test("picked runs stand in the URL, and are no part of the question", () => {
  const query = "status=complete&pick=7%2C3";
  assert.equal(writeListState(stateOf(query)).toString(), query);
  assert.deepEqual(stateOf(query).pick, [7, 3]);
  assert.equal(listKey(stateOf(query)), listKey(stateOf("status=complete")));
});

test("picks are run ids, each once, and eight at most", () => {
  assert.deepEqual(readPicks("3,3,x,-1,0,1e3,7,"), [3, 7]);
  assert.deepEqual(readPicks(null), []);
  assert.equal(readPicks("1,2,3,4,5,6,7,8,9,10").length, 8);
  assert.equal(excessWords(excessOf("1,2,3,4,5,6,7,8,8")), "");
  assert.match(excessWords(excessOf("1,2,3,4,5,6,7,8,9")), /names 9 runs, .* takes 8: run 9 is left out\.$/);
  assert.match(excessWords(excessOf("1,2,3,4,5,6,7,8,9,10")), /runs 9, 10 are left out\.$/);
  assert.equal(strangerWords("3,7,;9,"), "");
  assert.equal(
    strangerWords("1,abc,abc"),
    "'abc' is no id of a run and is left out: ids are whole numbers from 1.",
  );
  assert.match(strangerWords("1,0;x"), /^'0', 'x' are no ids of runs and are left out:/);
  assert.match(strangerWords("a,b,c,d,e,f,g,h,i,j"), /'h' and 2 more are no ids/);
  assert.deepEqual(togglePick([3, 7], 3), [7]);
  assert.deepEqual(togglePick([3, 7], 9), [3, 7, 9]);
  assert.deepEqual(togglePick([1, 2, 3, 4, 5, 6, 7, 8], 9), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(compareHref([3, 7]), "/compare?runs=3,7");
});

test("comparison and scaling are pages of their own", () => {
  assert.deepEqual(pageOf("/compare"), { name: "compare" });
  assert.deepEqual(pageOf("/scaling"), { name: "scaling" });
});

test("names with one word are one choice, and a chosen one keeps its own name", () => {
  const names = ["pretrain_grok1", "grok1", "pretrain_llama3.1"];
  const values = (chosen: string[]) => choicesByWord(names, chosen, formatWorkload);
  assert.deepEqual(values([]), [
    { value: "pretrain_grok1", word: "grok1" },
    { value: "pretrain_llama3.1", word: "llama3.1" },
  ]);
  assert.deepEqual(values(["grok1"])[0], { value: "grok1", word: "grok1" });
  assert.equal(values(["grok1"]).length, 2);
});
