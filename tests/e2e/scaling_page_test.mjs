// The scaling page: every series that the API has.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { fits } from "./page.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

describe("the scaling page", () => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 800 },
  ]) {
    test(`draws every series that the API has (${viewport.width} wide)`, async () => {
      const { series } = await daemon.get("/api/v1/scaling");
      const measured = series.filter(({ points }) => points.length > 0);
      assert.ok(measured.length > 2);
      await withPage(browser, `${daemon.url}/scaling`, { viewport }, async (page) => {
        const shown = page.locator("section.charts");
        await shown.nth(measured.length - 1).waitFor();
        assert.equal(await shown.count(), measured.length);
        for (const [at, { points, published }] of measured.entries()) {
          const section = shown.nth(at);
          const plot = section.locator(".scaling-plot").first();
          assert.equal(await plot.locator("circle.point").count(), points.length);
          assert.equal(await plot.locator("rect.published").count(), published.length);
          await until("an axis with text of 12 px", async () => {
            const text = await plot.locator(".tick").first().boundingBox();
            return text.height >= 12;
          });
          const smallest = points[0].gpu_count.toLocaleString("en");
          const heads = await section.locator("thead th").allInnerTexts();
          assert.match(heads[6], new RegExp(`^efficiency against ${smallest} GPU`, "i"));
          const gpus = await section.locator("tbody th").allInnerTexts();
          const known = [...points, ...published].map((point) => point.gpu_count);
          assert.deepEqual(
            gpus.map((text) => Number(text.replaceAll(",", ""))),
            [...new Set(known)].sort((a, b) => a - b),
          );
        }
        await fits(page);
      });
    });
  }

  test("keeps its filter in the URL", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await page.getByRole("link", { name: "Scaling" }).click();
      await page.getByLabel("workload").selectOption("pretrain_grok1");
      await page.waitForURL(/scaling\?workload=pretrain_grok1/);
      await until("series of that workload alone", async () => {
        const names = await page.locator("section.charts h2").allInnerTexts();
        return names.length > 0 && names.every((name) => /grok1/.test(name));
      });
      await page.goBack();
      await page.waitForURL(/scaling$/);
      await page.goBack();
      await page.waitForURL(/\/runs$/);
    });
  });

  test("keeps to a phone's width where it lists what is left out", async () => {
    const options = { viewport: { width: 390, height: 900 } };
    await withPage(browser, `${daemon.url}/scaling`, options, async (page) => {
      const lists = page.locator(".left-out summary");
      await lists.first().waitFor();
      for (const list of await lists.all()) await list.click();
      await page.locator(".left-out li a").first().waitFor();
      await fits(page);
    });
  });
});
