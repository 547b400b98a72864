// The health page where a log cannot be read: set aside, with the reason, until it can.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { kLooks, violations } from "./axe.mjs";
import { withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { fits } from "./page.mjs";
import { browser } from "./started_browser.mjs";

const kHostile = "pretrain_grok1_314b_<img src=x onerror='window.wasHostile=1'>_gpus8";
const kTriedAgainWithinMs = 400_000; // the longer, the more often it was in vain

describe("logs that cannot be read", () => {
  let service;
  let log;
  before(async () => {
    service = await Daemon.make();
    new NemoLog(service.tree, { gpus: 384, jobId: 62001, launchedAt: 1800000000 }).growTo(49);
    log = new NemoLog(service.tree, { experiment: kHostile, jobId: 62002, launchedAt: 1800000001 });
    log.growTo(20);
    chmodSync(log.file, 0);
    // Root may read every file, unless it has no such right.
    if (process.geteuid() === 0) {
      const without = "--bounding-set=-dac_override,-dac_read_search";
      service.through = ["setpriv", without, "--"];
    }
    await service.start();
    await untilOneIsSetAside();
  });
  after(() => service?.remove());

  const untilOneIsSetAside = () =>
    until("one log is set aside", async () => {
      const { parked_files: files } = await service.get("/api/v1/roots");
      return files.length === 1;
    });

  const row = (page) =>
    page.getByRole("region", { name: "Table: Logs set aside" }).locator("tbody tr");

  // The first, while the server still tries again soon.
  test("are counted, and gone from the table once they are read", async () => {
    await withPage(browser, `${service.url}/health`, {}, async (page) => {
      await row(page).waitFor();
      const count = page.locator(".facts > div").filter({ hasText: "Logs set aside" });
      assert.match(await count.innerText(), /\b1$/);
      chmodSync(log.file, 0o644);
      const none = page.getByText("every log that was found can be read");
      await none.waitFor({ timeout: kTriedAgainWithinMs });
      await page.getByText("all is well", { exact: true }).waitFor();
      const { runs } = await service.get("/api/v1/runs?job_id=62002");
      assert.equal(runs[0].last_iteration, 20);
    });
  });

  test("are not said to be read while the server is gone", async () => {
    const options = { reducedMotion: "reduce" };
    await withPage(browser, `${service.url}/health`, options, async (page, complaints) => {
      const trees = page.getByRole("region", { name: "Table: Watched trees" });
      await trees.getByText("answers", { exact: true }).waitFor();
      await service.stop();
      try {
        complaints.expect(/ERR_|Failed to load resource/);
        await page.getByText("no answer since").waitFor();
        await page.getByRole("heading", { name: "No answer from llmb-report" }).waitFor();
        assert.equal(await page.getByText("all is well", { exact: true }).count(), 0);
        await trees.getByText("not known: the server does not answer").waitFor();
        assert.equal(await page.getByText("every log that was found can be read").count(), 0);
        assert.deepEqual(await violations(page), []);
      } finally {
        await service.start();
      }
      await page.getByText("all is well", { exact: true }).waitFor();
    });
  });

  describe("while there is one", () => {
    before(async () => {
      chmodSync(log.file, 0o200);
      log.append("rank 0: still training\n");
      await untilOneIsSetAside();
    });

    for (const { width, colorScheme } of kLooks) {
      test(`are listed with the reason, ${width} px, ${colorScheme}`, async () => {
        const options = { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" };
        await withPage(browser, `${service.url}/health`, options, async (page) => {
          await row(page).waitFor();
          const [name, why, tries] = await row(page).locator("th, td").allInnerTexts();
          assert.equal(name.trim(), log.file);
          assert.match(why, /Permission denied/);
          await page.getByText("1 log cannot be read", { exact: true }).waitFor();
          assert.ok(Number(tries) >= 1, tries);
          assert.equal(await page.evaluate(() => window.wasHostile), undefined);
          await fits(page);
          if (process.env.LLMB_SCREENSHOTS) {
            const picture = `health-parked-${width}-${colorScheme}.png`;
            const file = path.join(process.env.LLMB_SCREENSHOTS, picture);
            await page.screenshot({ path: file, fullPage: true });
          }
          assert.deepEqual(await violations(page), []);
        });
      });
    }
  });
});
