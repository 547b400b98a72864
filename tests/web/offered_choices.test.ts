// Which values of a filter are offered where there are many.
import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredChoices } from "../../web/src/state/offered_choices";

const kMany = Array.from({ length: 200 }, (_, n) => ({ value: `v${n}`, word: `Word ${n}` }));
const valuesOf = (chosen: string[], part: string) =>
  offeredChoices(kMany, chosen, part).offered.map(({ value }) => value);

test("of many values fifty are offered, and it is told how many are not", () => {
  assert.equal(valuesOf([], "").length, 50);
  assert.equal(offeredChoices(kMany, [], "").hidden, 150);
  assert.equal(offeredChoices(kMany.slice(0, 50), [], "").hidden, 0);
});

test("what is typed is sought in words and values, whatever its case", () => {
  assert.deepEqual(valuesOf([], " WORD 199 "), ["v199"]);
  assert.deepEqual(valuesOf([], "v17"), ["v17", ...[...Array(10).keys()].map((n) => `v17${n}`)]);
  assert.deepEqual(valuesOf([], "nosuch"), []);
  assert.equal(offeredChoices(kMany, [], "nosuch").hidden, 0);
});

test("what is chosen is offered first, whatever is typed", () => {
  assert.deepEqual(valuesOf(["v180"], "199"), ["v180", "v199"]);
  assert.equal(valuesOf(["v180"], "")[0], "v180");
  assert.equal(offeredChoices(kMany, ["v180"], "").hidden, 149);
});
