// What the tests do with a page, and look at on it.
import assert from "node:assert/strict";
import { isAnswered } from "./browser.mjs";
import { until } from "./daemon.mjs";

export const kA4Width = 703; // px, less the margins

export const rows = (page) => page.locator("table.runs tbody tr[data-run]");
export const cells = (page, column) =>
  page.locator(`table.runs tbody tr[data-run] .col-${column}`);

// Plots are drawn anew in the frame after the one that shows them their new width.
export function twoFrames(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

// What `read` gives of a page that has its answers, once two frames change nothing of it.
export async function settled(page, read) {
  let found = await read();
  await until("the page is at rest", async () => {
    const before = JSON.stringify(found);
    await twoFrames(page);
    found = await read();
    return isAnswered(page) && JSON.stringify(found) === before;
  });
  return found;
}

// How much wider the page is than its window; a page of any width shows everything.
export function overflow(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}

export async function fits(page) {
  const beyond = await settled(page, () => overflow(page));
  assert.equal(beyond, 0, `${beyond} px beyond the window`);
}

// The file that a page gives for what is done to it.
export async function downloadBy(page, act) {
  const [file] = await Promise.all([page.waitForEvent("download"), act()]);
  return file;
}

export const scrolledTo = (page, top) =>
  until(`${top} px`, async () => (await page.evaluate(() => scrollY)) === top);
export const hasFocus = (what) =>
  until(`the focus on ${what}`, () => what.evaluate((one) => one === document.activeElement));

// Of both clocks: the page goes by the server's. One route for all times of a page, so that no answer
// with an earlier one is on its way when the time is set anew.
const times = new WeakMap();
export async function setTime(page, ms) {
  const isRouted = times.has(page);
  times.set(page, ms);
  if (!isRouted) {
    await page.route(/\/api\/v1\/status$/, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), date: new Date(times.get(page)).toUTCString() };
      await route.fulfill({ response, headers });
    });
  }
  await page.clock.setFixedTime(ms);
}

export async function assertDrawn(canvas) {
  const colours = () =>
    canvas.evaluate((element) => {
      const { width, height } = element;
      if (width === 0 || height === 0) return 0;
      const { data } = element.getContext("2d").getImageData(0, 0, width, height);
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4)
        seen.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
      return seen.size;
    });
  await until("more than five colours on the canvas", async () => (await colours()) > 5);
}
