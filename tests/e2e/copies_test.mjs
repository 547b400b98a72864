// How charts leave the page: as numbers, and as pictures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { downloadBy, settled } from "./page.mjs";
import { daemon, findRun } from "./site.mjs";
import { browser } from "./started_browser.mjs";

const kClipboard = { permissions: ["clipboard-read", "clipboard-write"] };
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

// Its width and height, as its header says.
async function savedPng(download) {
  const bytes = readFileSync(await download.path());
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), size: bytes.length };
}

async function save(page, place) {
  const button = place.getByRole("button", { name: "Save as PNG" });
  return savedPng(await downloadBy(page, () => button.click()));
}

describe("charts leave the page", () => {
  test("the steps of a run as CSV, Markdown and PNG", async () => {
    const run = await findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, kClipboard, async (page) => {
      const chart = page.locator("figure.chart").first();
      await chart.getByText("Copy", { exact: true }).click();
      await chart.getByRole("button", { name: "Copy as CSV" }).click();
      await until("the CSV", async () =>
        (await clipboard(page)).startsWith("iteration,"),
      );
      assert.equal((await clipboard(page)).trim().split("\r\n").length, 1 + run.step_count);
      await chart.getByRole("button", { name: "Copy as Markdown" }).click();
      await until("the table", async () =>
        (await clipboard(page)).startsWith("| iteration |"),
      );
      const { width, size } = await save(page, chart);
      assert.ok(width > 500 && size > 2_000);
    });
  });

  test("a scaling series as its table and as PNG", async () => {
    await withPage(browser, `${daemon.url}/scaling`, kClipboard, async (page) => {
      const series = page.locator("section.charts").first();
      await series.getByText("Copy", { exact: true }).click();
      await series.getByRole("button", { name: "Copy as CSV" }).click();
      await until("the CSV", async () => (await clipboard(page)).startsWith("GPUs,"));
      const drawn = await settled(page, () =>
        series.locator("svg[role=img]").first().boundingBox(),
      );
      const { width, height, size } = await save(page, series);
      assert.ok(Math.abs(width - 2 * drawn.width) <= 2, `${width} px of ${drawn.width}`);
      assert.equal(height, 2 * (48 + 520)); // both plots of the series, each below its title
      assert.ok(size > 2_000);
    });
  });

  test("the board as PNG and as a badge", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await page.locator("button.cell").first().waitFor();
      const { width, size } = await save(page, page.locator("main"));
      assert.ok(width > 1_000 && size > 10_000);
      const button = page.getByRole("button", { name: "Save a badge" });
      const file = await downloadBy(page, () => button.click());
      const badge = readFileSync(await file.path(), "utf8");
      const aim = /^<svg .*0\.95 × the published LLM speed: /;
      assert.match(badge, aim);
      assert.match(badge, /: met by \d+ of \d+.* on \d{4}-\d\d-\d\d"/);
    });
  });

  test("what other tools report is a picture, too", async () => {
    const run = await findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");
    const { tools } = await daemon.get(`/api/v1/runs/${run.id}/agreement`);
    const dots = tools.filter((tool) => tool.reads_such_logs && tool.step_time_s_mean !== null);
    assert.ok(dots.length > 1);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const plot = page.locator(".agreement-plot");
      await plot.waitFor();
      assert.equal(await plot.locator("path.other").count(), dots.length);
      const copy = plot.getByText("Copy", { exact: true });
      const { height } = await settled(page, () => copy.boundingBox());
      assert.ok(height >= 24, "high enough for a finger");
      await copy.click();
      const { width } = await save(page, plot);
      assert.equal(width, 1520);
    });
  });
});
