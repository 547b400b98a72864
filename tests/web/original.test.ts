// Which run counts for a log that has the bytes of another.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { History } from "../../web/src/api/types";
import { originalOf } from "../../web/src/state/original";

test("a run is the copy of the one that history names for it", () => {
  const series = [{ copies: [] }, { copies: [{ id: 72, copy_of: 34 }] }];
  const history = { series } as unknown as History;
  assert.equal(originalOf(72, history), 34);
  assert.equal(originalOf(34, history), null);
  assert.equal(originalOf(72, null), null);
});
