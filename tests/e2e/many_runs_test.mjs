// Ten thousand runs: the table costs the same however far one scrolls, and every page still answers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { cells, rows } from "./page.mjs";
import { more } from "./runs_list.mjs";
import { browser } from "./started_browser.mjs";

const kRuns = 10_000;
const kLastStep = 2; // short logs: it is their number that counts
const kNodesMax = 5_000;
const kOwnGpus = 1_000;

describe("ten thousand runs", () => {
  let service;
  before(async () => {
    service = await Daemon.make();
    for (let index = 0; index < kRuns; index += 1) {
      // One in a hundred has a number of its own.
      const own = index % 100 === 96 ? kOwnGpus + Math.floor(index / 100) : 0;
      const gpus = own || [64, 128, 256, 512][index % 4];
      const options = { gpus, jobId: 100_000 + index, launchedAt: 1_700_000_000 + 60 * index };
      new NemoLog(service.tree, { ...options, last: kLastStep }).growTo(kLastStep);
    }
    await service.start();
  });
  after(() => service?.remove());

  const nodeCount = (page) => page.evaluate(() => document.getElementsByTagName("*").length);
  const row = (page, index) => page.locator(`table.runs tr[aria-rowindex="${index}"][data-run]`);

  test("are scrolled through with as few nodes at the end as at the beginning", async () => {
    await withPage(browser, `${service.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      assert.equal(await page.locator(".count").innerText(), "10,000 runs");
      for (const place of [0.25, 0.5, 0.75, 1]) {
        await page.evaluate((share) => {
          scrollTo(0, share * document.documentElement.scrollHeight);
        }, place);
        if (place < 1) await row(page, Math.round(place * kRuns)).waitFor();
        assert.ok((await nodeCount(page)) < kNodesMax, `at ${place}`);
      }
      const oldest = row(page, kRuns + 1);
      await oldest.waitFor();
      const { runs } = await service.get("/api/v1/runs?sort=launched_at&limit=1");
      assert.equal(Number(await oldest.getAttribute("data-run")), runs[0].id);
    });
  });

  test("are come back to in the middle, with filter and order", async () => {
    const url = `${service.url}/runs?q=gpus256_&sort=launched_at`;
    await withPage(browser, url, {}, async (page) => {
      await rows(page).first().waitFor();
      assert.equal(await page.locator(".count").innerText(), "2,500 matching runs");
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
      const middle = row(page, kRuns / 8);
      await middle.waitFor();
      const id = await middle.getAttribute("data-run");
      await middle.locator("a.name").click();
      await page.locator(".plot canvas").first().waitFor();
      await page.goBack();
      await until("the same run in its place", async () => {
        const again = row(page, kRuns / 8);
        return (await again.count()) === 1 && (await again.getAttribute("data-run")) === id;
      });
    });
  });

  test("are not counted to the end where a text finds many, and yet scrolled to it", async () => {
    await withPage(browser, `${service.url}/runs?q=gpus`, {}, async (page) => {
      const count = page.locator(".count");
      await rows(page).first().waitFor();
      assert.equal(await count.innerText(), "more than 5,000 matching runs");
      await until("the end of the list", async () => {
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        return (await count.innerText()) === "10,000 matching runs";
      });
      await row(page, kRuns + 1).waitFor();
    });
  });

  test("are found by a number of a job as it is typed, and one that is new shows by itself", async () => {
    await withPage(browser, `${service.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByLabel("name or path").pressSequentially("104567");
      await until("one run", async () => (await rows(page).count()) === 1);
      assert.match(await cells(page, "experiment").innerText(), /job 104567/);
      await page.getByRole("button", { name: "Clear filters" }).click();
      await until("all runs", async () => (await rows(page).count()) > 10);
      const growing = { gpus: 96, jobId: 900_000, launchedAt: 1_900_000_000 };
      new NemoLog(service.tree, growing).growTo(3);
      await until("the new run on top", async () =>
        /job 900000/.test(await cells(page, "experiment").first().innerText()),
      );
    });
  });

  test("are filtered by one of many values, of which a part is typed", async () => {
    await withPage(browser, `${service.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await more(page).click();
      const list = page
        .locator("details.field-list")
        .filter({ has: page.locator("legend", { hasText: /^GPUs$/ }) });
      await list.locator("summary").click();
      await list.getByText(/^\d+ more: type a part/).waitFor();
      assert.equal(await list.getByRole("checkbox").count(), 50);
      await list.getByLabel("find GPUs").fill("1,042");
      await until("one value", async () => (await list.getByRole("checkbox").count()) === 1);
      await list.getByLabel("1,042", { exact: true }).check();
      await page.waitForURL(/gpu_count=1042/);
      await until("its run", async () => (await rows(page).count()) === 1);
      assert.match(await cells(page, "experiment").innerText(), /gpus1042\b/);
    });
  });

  test("leave every page quick to open", async () => {
    for (const [path, sign] of [
      ["/", "button.cell"],
      ["/?view=certification", "section.suite"],
      ["/scaling", "main h1"],
      ["/history", "main h1"],
      ["/jobs", "main table"],
      ["/health", ".facts"],
    ]) {
      await withPage(browser, service.url + path, {}, async (page) => {
        await page.locator(sign).first().waitFor();
        await until("its answer", async () => (await page.locator(".loading").count()) === 0);
        assert.ok((await nodeCount(page)) < kNodesMax, path);
      });
    }
  });
});
