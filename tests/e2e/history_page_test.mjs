// The history page: what got slower, when, and with what; and the ways to it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { fits, settled } from "./page.mjs";
import { daemon, findRun } from "./site.mjs";
import { browser } from "./started_browser.mjs";

// The configuration of the sample tree that has a run a week.
async function weekly() {
  const { series } = await daemon.get("/api/v1/history");
  const found = series.find(({ changes, runs }) => changes.length > 0 && runs.length > 6);
  assert.ok(found, "a series with a change");
  return found;
}

const section = (page) => page.locator("section.history");

describe("the history page", () => {
  for (const width of [360, 1440]) {
    test(`draws each run and marks each change (${width} wide)`, async () => {
      const { series } = await daemon.get("/api/v1/history");
      const repeated = series.filter(({ runs }) => runs.length > 1);
      const { runs, changes } = await weekly();
      const options = { viewport: { width, height: 900 } };
      await withPage(browser, `${daemon.url}/history?days=any`, options, async (page) => {
        await section(page).first().waitFor();
        await settled(page, () => section(page).count());
        assert.equal(await section(page).count(), repeated.length);
        const first = section(page).first(); // what changed stands first
        assert.match(await first.locator("figcaption").innerText(), /^Median step time, s/);
        assert.equal(await first.locator("circle.point").count(), runs.length);
        assert.equal(await first.locator(".change").count(), changes.length);
        assert.equal(await first.locator(".changes li").count(), changes.length);
        assert.match(await first.locator(".changes li").first().innerText(), /% slower.*from run/);
        for (const { key, after } of changes[0].differences) {
          const words = await first.locator(".changes li").first().innerText();
          const name = key.includes("env_overrides.") ? key.split(".").at(-1) : key;
          assert.ok(words.includes(name === key ? key.replaceAll("_", " ") : `'${name}'`), key);
          assert.ok(words.includes(after ?? "not stated"), words);
        }
        await fits(page);
      });
    });
  }

  test("has a table twin that leads to the runs, and leaves the page as CSV", async () => {
    const { runs } = await weekly();
    const options = { permissions: ["clipboard-read", "clipboard-write"] };
    await withPage(browser, `${daemon.url}/history`, options, async (page) => {
      const first = section(page).first();
      await first.getByText(`Table of ${runs.length} runs`).click();
      await first.getByRole("cell", { name: /% slower from here on/ }).waitFor();
      await first.getByText("Copy", { exact: true }).click();
      await first.getByRole("button", { name: "Copy as CSV" }).click();
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      await until("the CSV", async () => (await clipboard()).startsWith("started,"));
      const lines = (await clipboard()).trim().split("\r\n");
      assert.equal(lines.length, 1 + runs.length);
      const { launched_at: started, id, job_id: job, step_time_s_median: median } = runs[0];
      assert.ok(lines[1].startsWith(`${started},${id},${job ?? ""},${median},`), lines[1]);
      await first.getByRole("link", { name: `run ${runs[0].id}`, exact: true }).click();
      await page.waitForURL(new RegExp(`/runs/${runs[0].id}$`));
    });
  });

  test("leads from each change to its configuration, however many changed", async () => {
    const series = await weekly();
    const options = { viewport: { width: 1440, height: 900 } };
    await withPage(browser, `${daemon.url}/health`, options, async (page) => {
      await page.route(/\/api\/v1\/history/, async (route) => {
        const response = await route.fetch();
        const many = Array.from({ length: 30 }, (_, at) => ({ ...series, workload: `many${at}` }));
        await route.fulfill({ response, json: { ...(await response.json()), series: many } });
      });
      await page.getByRole("link", { name: "History", exact: true }).click();
      await page.getByRole("combobox", { name: /^changes/ }).selectOption("any");
      const last = page.locator(".history-told .findings").getByRole("link", { name: /^many29 / });
      await last.first().click();
      const shown = section(page).filter({ has: page.getByRole("heading", { name: /^many29 / }) });
      await shown.waitFor();
      await until("it is in sight", async () => {
        const { y } = await shown.boundingBox();
        return y >= -1 && y < 900;
      });
    });
  });

  test("tells of the chosen time alone, and of what was before it", async () => {
    await withPage(browser, `${daemon.url}/history`, {}, async (page) => {
      await page.getByText("The latest change before that").waitFor();
      await page.getByRole("combobox", { name: /^changes/ }).selectOption("any");
      await page.waitForURL(/days=any/);
      await page.getByRole("heading", { name: /^Slower at any time: [1-9]/ }).waitFor();
    });
  });

  test("is reached from a run, and has that run's configuration alone", async () => {
    const { runs } = await weekly();
    await withPage(browser, `${daemon.url}/runs/${runs[0].id}`, {}, async (page) => {
      await page.getByRole("link", { name: "its step time over time" }).click();
      await page.waitForURL(new RegExp(`/history\\?.*run=${runs[0].id}$`));
      await section(page).first().waitFor();
      assert.equal(await section(page).count(), 1);
      await page.getByRole("link", { name: "Show every configuration" }).click();
      await until("all of them", async () => (await section(page).count()) > 1);
    });
  });

  test("is reached from a cell of the board", async () => {
    await withPage(browser, `${daemon.url}/?workload=nemotron4&gpu_type=h100`, {}, async (page) => {
      const row = page.locator(".board-row").filter({ hasText: "nemotron4 15b bf16" });
      await row.locator("button.cell").filter({ hasText: /\b128 GPUs/ }).click();
      await page.getByRole("link", { name: "Their step time over time" }).click();
      await page.waitForURL(/\/history\?workload=pretrain_nemotron4&.*gpu_count=128/);
      await section(page).first().waitFor();
      for (const name of await section(page).locator("h2").allInnerTexts()) {
        assert.match(name, /^nemotron4 15b bf16, 128 × h100$/);
      }
    });
  });

  test("says why a run is in no history, and counts it where that is asked", async () => {
    const { id } = await findRun("status=complete&mark=traced");
    await withPage(browser, `${daemon.url}/history?run=${id}`, {}, async (page) => {
      await page.getByText("The log holds an NCCL trace").first().waitFor();
      await page.getByRole("button", { name: "Count those that are traced" }).click();
      await page.waitForURL(/include=traced/);
      await page.getByRole("heading", { name: /^Slower in the last/ }).waitFor();
    });
  });

  test("offers a workload once, by whichever of its names it is asked for", async () => {
    await withPage(browser, `${daemon.url}/history?workload=grok1`, {}, async (page) => {
      await section(page).first().waitFor();
      const choice = page.getByRole("combobox", { name: "workload" });
      const offered = await choice.locator("option").allInnerTexts();
      assert.deepEqual(offered.filter((name) => name === "grok1").length, 1, offered.join());
      assert.equal(await choice.inputValue(), "grok1");
    });
  });

  test("offers every workload still where one is chosen, and steps back from it", async () => {
    const { workload } = await daemon.get("/api/v1/choices");
    const expected = new Set(workload.map((name) => name.replace(/^pretrain_/, "")));
    assert.ok(expected.size > 2);
    await withPage(browser, `${daemon.url}/history?workload=pretrain_grok1`, {}, async (page) => {
      await section(page).first().waitFor();
      const choice = page.getByRole("combobox", { name: "workload" });
      await until("every workload", async () => {
        const offered = await choice.locator("option").allInnerTexts();
        return [...expected].every((name) => offered.includes(name));
      });
      const count = await choice.locator("option").count();
      await choice.selectOption("");
      await page.waitForURL(/\/history$/);
      await page.goBack();
      await page.waitForURL(/workload=pretrain_grok1/);
      assert.equal(await choice.locator("option").count(), count);
    });
  });

  test("says what to do where there is no history", async () => {
    const { id } = await findRun("status=failed");
    const url = `${daemon.url}/history?run=${id}`;
    await withPage(browser, url, {}, async (page) => {
      await page.getByRole("heading", { name: `Run ${id} is in no history` }).waitFor();
      await page.getByText("Launch the same recipe again").waitFor();
    });
    await withPage(browser, `${daemon.url}/history?gpu_count=7`, {}, async (page) => {
      await page.getByRole("heading", { name: "No history yet" }).waitFor();
      await page.getByRole("link", { name: "see all runs" }).click();
      await page.waitForURL(/\/runs$/);
    });
  });
});
