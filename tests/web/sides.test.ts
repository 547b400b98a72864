// The sides of a comparison in a URL, and the commands that launch a configuration again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readSides, sidesQuery, type Sides } from "../../web/src/state/sides";
import { submitCommandOf } from "../../web/src/state/submit_command";

const sidesOf = (text: string) => readSides(new URLSearchParams(text));

test("sides stand in the URL with their names, beside what the page measures over", () => {
  const sides: Sides = [
    { name: "old switch", runs: [3, 5] },
    { name: "", runs: [7] },
  ];
  const query = sidesQuery(sides, new URLSearchParams("runs=1,2&window=20-30"));
  assert.equal(query.toString(), "window=20-30&base=3%2C5&base_name=old+switch&candidate=7");
  assert.deepEqual(readSides(query), sides);
});

test("of several sides each has its name and its place", () => {
  const sides: Sides = [
    { name: "", runs: [3] },
    { name: "", runs: [5, 6] },
    { name: "new; switch", runs: [7] },
  ];
  const query = sidesQuery(sides, new URLSearchParams());
  assert.equal(query.get("candidate"), "5,6;7");
  assert.deepEqual(query.getAll("candidate_name"), ["", "new; switch"]);
  assert.deepEqual(readSides(query), sides);
  assert.deepEqual(sidesOf("base=1&candidate=2;3;2;4")?.map(({ runs }) => runs), [[1], [2], [3], [4]]);
  assert.equal(sidesOf("base=1&candidate=2;3;4;5;6;7;8;9;10")?.length, 8);
});

test("a side without runs is none, a run is of one side, and eight are all", () => {
  assert.equal(sidesOf("base=1,2"), null);
  assert.equal(sidesOf("base=1&candidate=1"), null);
  assert.equal(sidesOf("base=x&candidate=2"), null);
  assert.deepEqual(sidesOf("base=1,2&candidate=2,3")?.[1]?.runs, [3]);
  assert.equal(sidesOf("base=1,2,3,4,5&candidate=6,7,8,9,10")?.[1]?.runs.length, 3);
  assert.equal(sidesOf("base=1,2,3,4,5,6,7,8&candidate=9"), null);
});

test("a command quotes what a shell would take apart", () => {
  const launched = {
    workload: "pretrain_grok1",
    model_size: "314b; rm -rf x",
    dtype: "fp8",
    gpu_type: "gb200",
    gpu_count: 128,
  };
  assert.equal(
    submitCommandOf(launched, 2, [["NAME", "it's $HOME"]]),
    "llmb-report submit -w pretrain_grok1 -s '314b; rm -rf x' --dtype fp8 --gpu-type gb200 " +
      "--scale 128 -r 2 --env 'NAME=it'\\''s $HOME'",
  );
});
