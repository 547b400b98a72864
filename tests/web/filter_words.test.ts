// Figures as a filter shows them, and as the API is asked for them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { askedFigure, shownFigure } from "../../web/src/filter_words";
import { hiddenFilters } from "../../web/src/state/hidden_filters";
import { readListState } from "../../web/src/state/list_state";

test("a figure is shown and asked for without the digits that binary fractions add", () => {
  assert.notEqual(0.07 * 100, 7);
  assert.equal(shownFigure("mfu", "0.07"), 7);
  assert.equal(askedFigure("mfu", 7), "0.07");
  assert.equal(shownFigure("tokens_per_s_per_gpu", "900"), 900);
});

test("what is no number is shown as the address has it", () => {
  assert.ok(Number.isNaN(shownFigure("mfu", "much")));
  const state = readListState(new URLSearchParams("mfu_at_least=much&mfu_at_most=0.07"));
  assert.deepEqual(hiddenFilters(state, []).map(({ value }) => value), ["much", "7 %"]);
});
