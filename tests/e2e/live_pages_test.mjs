// What comes about while a page is open, and where there is nothing to show.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { cells, hasFocus, rows } from "./page.mjs";
import { daemon, growing } from "./site.mjs";
import { browser } from "./started_browser.mjs";

describe("live", () => {
  test("a growing log moves its row and its page without a reload", async () => {
    const url = `${daemon.url}/runs?q=gpus384`;
    await withPage(browser, url, {}, async (page) => {
      const progress = cells(page, "progress");
      await until("20 of 49", async () => /^20 \/ 49/.test(await progress.innerText()));
      growing.growTo(33);
      await until("33 of 49", async () => /^33 \/ 49/.test(await progress.innerText()));
      await page.locator("a.name").click();
      await page.getByText("Table of 34 steps").waitFor();
      growing.growTo(49);
      await page.getByText("Table of 50 steps").waitFor();
    });
  });

  test("what changes before a page's stream is open is shown, too", async () => {
    const log = new NemoLog(daemon.tree, { gpus: 416, jobId: 60013, launchedAt: 1800000120 });
    log.growTo(20);
    const found = async () => (await daemon.get("/api/v1/runs?job_id=60013")).runs[0];
    await until("its run", found);
    await withPage(browser, `${daemon.url}/references`, {}, async (page) => {
      let open = () => {};
      const opened = new Promise((resolve) => (open = resolve));
      await page.route("**/api/v1/events*", async (route) => {
        await opened;
        await route.continue();
      });
      await page.goto(`${daemon.url}/runs?q=gpus416`);
      const progress = cells(page, "progress");
      await until("20 of 49", async () => /^20 \/ 49/.test(await progress.innerText()));
      log.growTo(33);
      await until("its steps", async () => (await found()).last_iteration === 33);
      open();
      await until("33 of 49", async () => /^33 \/ 49/.test(await progress.innerText()));
    });
  });

  test("the end of a growing log is followed, and what is above it stays where it is", async () => {
    const log = new NemoLog(daemon.tree, { gpus: 448, jobId: 60012, launchedAt: 1800000110 });
    log.growTo(20);
    const found = () => daemon.get("/api/v1/runs?job_id=60012");
    const id = await until("its run", async () => (await found()).runs[0]?.id);
    await withPage(browser, `${daemon.url}/runs/${id}?log=end`, {}, async (page) => {
      const box = page.locator(".log-lines");
      await box.locator(".is-chosen").getByText("iteration 20/").waitFor();
      log.append("rank 0: one line more\nrank 0: half a");
      await box.getByText("rank 0: half a", { exact: true }).waitFor();
      log.append(` line\n${"rank 0: and more\n".repeat(60)}`);
      await box.getByText("rank 0: half a line").waitFor();
      const toBottom = () =>
        box.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
      await until("at its end", async () => (await toBottom()) < 2);
      await box.evaluate((it) => (it.scrollTop = 100));
      log.append("rank 0: what came later\n");
      await page.getByRole("button", { name: "Later lines" }).waitFor();
      assert.equal(await box.evaluate((it) => it.scrollTop), 100);
      assert.equal(await box.getByText("what came later").count(), 0);
      await page.getByRole("button", { name: "End" }).click();
      await box.locator(".is-chosen").getByText("what came later").waitFor();
    });
  });

  test("a new log appears by itself", async () => {
    await withPage(browser, `${daemon.url}/runs?q=gpus640`, {}, async (page) => {
      await page.getByRole("heading", { name: "No run matches" }).waitFor();
      const log = new NemoLog(daemon.tree, { gpus: 640, jobId: 60002, launchedAt: 1800000100 });
      log.growTo(3);
      await until("its row", async () => (await rows(page).count()) === 1);
    });
  });

  test("a run that fails is counted on the page of failures", async () => {
    const log = new NemoLog(daemon.tree, { gpus: 864, jobId: 60014, launchedAt: 1800000120 });
    log.growTo(20);
    const ran = async (isSo) => {
      const { runs } = await daemon.get("/api/v1/runs?job_id=60014");
      return runs.some(isSo);
    };
    await until("its run", () => ran(() => true));
    await withPage(browser, `${daemon.url}/failures?gpu_count=864`, {}, async (page) => {
      await page.getByRole("heading", { name: "No run has ended" }).waitFor();
      log.append(
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" +
          "srun: error: node1: task 3: Exited with exit code 1\n",
      );
      await until("its failure", () => ran((run) => run.failure_cause !== null));
      await page.getByRole("link", { name: "CUDA out of memory" }).waitFor();
    });
  });

  test("a step whose loss is NaN shows in chart, words and table", async () => {
    const options = { gpus: 832, jobId: 60030, launchedAt: 1800000140, nanAt: [22] };
    const log = new NemoLog(daemon.tree, options);
    log.growTo(20);
    const found = () => daemon.get("/api/v1/runs?job_id=60030");
    const id = await until("its run", async () => (await found()).runs[0]?.id);
    await withPage(browser, `${daemon.url}/runs/${id}`, {}, async (page) => {
      await page.getByText("Table of 21 steps").waitFor();
      assert.equal(await page.locator(".legend .swatch-nan").count(), 0);
      log.growTo(30);
      await page.getByText("1 step has a loss that is NaN or infinite, or a gradient").waitFor();
      await page.locator(".legend").getByText("NaN or infinite").waitFor();
      await page.getByRole("img", { name: /^Loss .* In 1 step it is NaN or infinite/ }).waitFor();
      await page.getByText("Table of 31 steps").click();
      const row = page.getByRole("region", { name: "Steps" }).locator("tr", { hasText: "NaN" });
      assert.equal(await row.locator("th").innerText(), "22");
      const canvas = page.getByRole("img", { name: /^Loss of/ }).locator("canvas");
      const red = () =>
        canvas.evaluate((element) => {
          const { width, height } = element;
          const { data } = element.getContext("2d").getImageData(0, 0, width, height);
          const isRed = (at) => data[at] > 150 && data[at + 1] < 80 && data[at + 2] < 80;
          let count = 0;
          for (let at = 0; at < data.length; at += 4) count += isRed(at) && data[at + 3] > 200;
          return count;
        });
      await until("the cross is drawn", async () => (await red()) > 3);
    });
  });

  test("a row that outgrows its place in a sorted list keeps it, and it is told", async () => {
    const logs = [1, 2].map((at) => {
      const experiment = `pretrain_grok1_314b_fp8_gpus8_sorted${at}`;
      const options = { experiment, jobId: 60020 + at, launchedAt: 1800000120 + at };
      return new NemoLog(daemon.tree, options);
    });
    logs[0].growTo(3);
    logs[1].growTo(5);
    const query = "q=_sorted&sort=last_iteration";
    await until("both", async () => {
      const { runs } = await daemon.get(`/api/v1/runs?${query}`);
      return runs.map((run) => run.last_iteration).join() === "3,5";
    });
    // The stream is open before the list is, for its beginning has lists asked for anew.
    await withPage(browser, `${daemon.url}/references`, {}, async (page) => {
      await page.getByText("live", { exact: true }).waitFor();
      await page.evaluate((address) => {
        const link = document.createElement("a");
        link.href = address;
        document.body.append(link);
        link.click();
        link.remove();
      }, `/runs?${query}`);
      const iterations = async () =>
        (await cells(page, "progress").allInnerTexts()).map((text) => parseInt(text, 10)).join();
      await until("both rows", async () => (await iterations()) === "3,5");
      await page.getByRole("button", { name: /^Iteration/ }).focus();
      await page.keyboard.press("j");
      const active = page.locator("table.runs tr.is-active");
      await active.waitFor();
      const id = await active.getAttribute("data-run");
      logs[0].growTo(8);
      await until("the row in its place", async () => (await iterations()) === "8,5");
      await page.getByRole("status").getByText(/changed since this list was sorted/).waitFor();
      await page.getByRole("button", { name: "Sort again" }).press("Enter");
      await until("the order", async () => (await iterations()) === "5,8");
      assert.equal(await page.getByRole("button", { name: "Sort again" }).count(), 0);
      await hasFocus(page.getByRole("button", { name: /^Iteration/ }));
      assert.equal(await active.getAttribute("data-run"), id, "active wherever it moved");
      await page.keyboard.press("x");
      await page.waitForURL(new RegExp(`pick=${id}$`));
    });
  });

  test("a restart of the daemon is shown, and survived", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page, complaints) => {
      await page.getByText("live", { exact: true }).waitFor();
      await daemon.stop();
      complaints.expect(/ERR_|Failed to load resource/);
      try {
        await page.getByText("reconnecting").waitFor();
      } finally {
        await daemon.start();
      }
      await page.getByText("live", { exact: true }).waitFor();
    });
  });
});

describe("an empty tree", () => {
  test("says where logs are looked for", async () => {
    const empty = await Daemon.make();
    try {
      mkdirSync(path.join(empty.tree, "experiments"), { recursive: true });
      await empty.start();
      await withPage(browser, `${empty.url}/runs`, {}, async (page) => {
        await page.getByRole("heading", { name: "No runs yet" }).waitFor();
        await page.getByText(empty.tree).waitFor();
      });
    } finally {
      await empty.remove();
    }
  });
});
