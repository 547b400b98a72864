// Which clicks on a plot ask for a step, and when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kDoubleClickMs, LoneClick } from "../../web/src/chart/lone_click";

// Clicks whose time passes when the test says so.
function clicksInTestTime() {
  const due: { action: () => void; delayMs: number }[] = [];
  const clicks = new LoneClick((action, delayMs) => due.push({ action, delayMs }));
  const passTime = () => {
    for (const { action } of due.splice(0)) action();
  };
  return { clicks, due, passTime };
}

test("a click acts once no second one can follow", () => {
  const { clicks, due, passTime } = clicksInTestTime();
  let acts = 0;
  clicks.click(1, true, () => (acts += 1));
  assert.deepEqual([acts, due[0]?.delayMs], [0, kDoubleClickMs]);
  passTime();
  assert.equal(acts, 1);
  clicks.click(1, false, () => (acts += 1));
  assert.equal(due[0]?.delayMs, 0, "there is nothing to wait for");
});

test("a second press takes the first click back, however long it is held", () => {
  const { clicks, passTime } = clicksInTestTime();
  let acts = 0;
  clicks.click(1, true, () => (acts += 1));
  clicks.press(2);
  passTime();
  clicks.click(2, true, () => (acts += 1));
  passTime();
  assert.equal(acts, 0);
});

test("a plot that goes forgets its click", () => {
  const { clicks, passTime } = clicksInTestTime();
  let acts = 0;
  clicks.click(1, true, () => (acts += 1));
  clicks.press(1);
  clicks.forget();
  passTime();
  assert.equal(acts, 0);
});
