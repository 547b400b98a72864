// The page of failures: what ends runs, and where; and the ways from it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { rows } from "./page.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

const table = (page, name) => page.getByRole("region", { name: `Table: ${name}`, exact: true });

describe("the page of failures", () => {
  test("counts what ended runs, as the list of each cause has them", async () => {
    const { causes } = await daemon.get("/api/v1/failures");
    assert.ok(causes.length > 1);
    await withPage(browser, `${daemon.url}/failures`, {}, async (page) => {
      const row = table(page, "Causes").locator("tbody tr").first();
      await row.waitFor();
      assert.equal(await row.locator("td").first().innerText(), String(causes[0].runs));
      await row.getByRole("rowheader").getByRole("link").click();
      await page.waitForURL(new RegExp(`/runs\\?failure_cause=${causes[0].cause}$`));
      await rows(page).first().waitFor();
      assert.equal(await rows(page).count(), causes[0].runs);
    });
  });

  test("keeps its filters in the address, and takes them along to the list", async () => {
    const url = `${daemon.url}/failures?workload=pretrain_grok1&since=2020-01-01`;
    const { causes, ended } = await daemon.get(
      "/api/v1/failures?workload=pretrain_grok1&since=2020-01-01",
    );
    const all = await daemon.get("/api/v1/failures");
    assert.ok(ended < all.ended);
    await withPage(browser, url, {}, async (page) => {
      const link = table(page, "Causes").locator("tbody th a").first();
      const query = new URL(await link.getAttribute("href"), daemon.url).searchParams;
      assert.equal(query.get("workload"), "pretrain_grok1");
      assert.equal(query.get("since"), "2020-01-01");
      assert.equal(query.get("failure_cause"), causes[0].cause);
      await page.getByRole("link", { name: "Clear filters" }).click();
      await page.waitForURL(/\/failures$/);
      const { failed } = all;
      await page.getByRole("heading", { name: new RegExp(`^${failed} of ${all.ended} `) }).waitFor();
    });
  });

  test("leads from the runs without a cause to just these", async () => {
    const { unexplained } = await daemon.get("/api/v1/failures");
    assert.ok(unexplained.length > 0);
    const [{ status, runs }] = unexplained;
    await withPage(browser, `${daemon.url}/failures`, {}, async (page) => {
      const all = table(page, "Causes").locator("tbody tr", { hasText: "no failure found" });
      const row = all.first();
      await row.getByRole("rowheader").getByRole("link").click();
      await page.waitForURL(new RegExp(`/runs\\?status=${status}&failure_cause=none$`));
      await rows(page).first().waitFor();
      assert.equal(await rows(page).count(), runs);
    });
  });

  test("names the filters that it has no field for, and what it does not know", async () => {
    const url = `${daemon.url}/failures?status=failed&gpus=8`;
    await withPage(browser, url, {}, async (page) => {
      await page.getByText("'gpus', which this page does not know").waitFor();
      await page.getByRole("button", { name: "Take away: status failed" }).click();
      await page.waitForURL(/\/failures$/);
    });
  });

  test("says of what it shows that another choice is asked for, and drops it in vain", async () => {
    await withPage(browser, `${daemon.url}/failures`, {}, async (page, complaints) => {
      complaints.expect(/503/);
      await table(page, "Causes").waitFor();
      let answer;
      await page.route(/\/api\/v1\/failures\?.*workload=/, (route) => {
        answer = () => route.fulfill({ status: 503, body: "" });
      });
      await page.locator("details.field-list", { hasText: "workload" }).locator("summary").click();
      await page.getByLabel("grok1", { exact: true }).check();
      await page.getByText("Loading the failures …").waitFor();
      assert.equal(await page.locator(".answered").getAttribute("aria-busy"), "true");
      await table(page, "Causes").waitFor();
      await until("the question", () => answer);
      answer();
      await page.getByRole("button", { name: "Try again" }).waitFor();
      assert.equal(await table(page, "Causes").count(), 0);
    });
  });

  test("says where no run has ended, and the way back", async () => {
    await withPage(browser, `${daemon.url}/failures?gpu_type=abacus`, {}, async (page) => {
      await page.getByRole("heading", { name: "No run has ended" }).waitFor();
      await page.getByRole("link", { name: "Show the failures of all runs" }).click();
      await table(page, "Causes").waitFor();
    });
  });

  test("draws a bar for each period, with a table of the same numbers", async () => {
    const { period, periods } = await daemon.get("/api/v1/failures");
    await withPage(browser, `${daemon.url}/failures`, {}, async (page) => {
      const bars = page.locator(".failure-bars");
      await bars.waitFor();
      assert.equal(await bars.locator(".pointed-at").count(), periods.length);
      await page.getByText(`Table of the ${period}s`).click();
      const filled = periods.filter(({ ended }) => ended > 0).length;
      await table(page, `Runs by ${period}`).waitFor();
      const shown = table(page, `Runs by ${period}`).locator("tbody tr");
      assert.equal(await shown.count(), filled);
    });
  });
});
