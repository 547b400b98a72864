// The dashboard as a user meets it: the real daemon on a copy of the sample tree, real Chromium.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, utimesSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, missing, withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { experimentName, NemoLog, stepTime } from "./logs.mjs";

const reason = missing();
if (reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

const sampleTree = fileURLToPath(new URL("../../deploy/sample-tree", import.meta.url));
const kManyRuns = 60; // more than one page of the list
const kManyGpus = 96; // tells the runs of the list test from those of the sample tree

const rows = (page) => page.locator("table.runs tbody tr");
const cells = (page, column) => page.locator(`table.runs tbody td.col-${column}`);

let browser;
let daemon;
let growing;
let hung;

before(async () => {
  browser = await launch();
  daemon = await Daemon.make();
  if (!existsSync(sampleTree)) throw new Error(`there is no sample tree at ${sampleTree}`);
  cpSync(sampleTree, daemon.tree, { recursive: true });
  for (let index = 0; index < kManyRuns; index += 1) {
    const options = { gpus: kManyGpus, jobId: 50000 + index, launchedAt: 1700000000 + 60 * index };
    new NemoLog(daemon.tree, options).growTo(49);
  }
  growing = new NemoLog(daemon.tree, { gpus: 384, jobId: 60001, launchedAt: 1800000000 });
  growing.growTo(20);
  hung = new NemoLog(daemon.tree, { gpus: 768, jobId: 60003, launchedAt: 1800000050 });
  hung.growTo(20);
  // Over twenty of its steps ago, and not so long that the log counts as ended.
  const fourMinutesAgo = new Date(Date.now() - 240_000);
  utimesSync(hung.file, fourMinutesAgo, fourMinutesAgo);
  await daemon.start();
});

after(async () => {
  await browser?.close();
  await daemon?.remove();
});

describe("the runs page", () => {
  test("lists what the API lists, newest first", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      const shown = rows(page);
      await until("the API's rows in the API's order", async () => {
        const { runs } = await daemon.get("/api/v1/runs?limit=50");
        const ids = await shown.evaluateAll((all) => all.map((row) => Number(row.dataset.run)));
        return ids.length === 50 && ids.join() === runs.map((run) => run.id).join();
      });
      const { total } = await daemon.get("/api/v1/runs?limit=1");
      assert.equal(await page.locator(".count").innerText(), `${total} runs`);
      await page.getByText("live", { exact: true }).waitFor();
    });
  });

  test("loads more, and keeps that in the URL", async () => {
    const { total } = await daemon.get("/api/v1/runs?limit=1");
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await page.getByRole("button", { name: "Load more" }).click();
      await rows(page).nth(50).waitFor();
      const shown = await rows(page).count();
      assert.equal(shown, Math.min(total, 100));
      assert.match(page.url(), new RegExp(`rows=${shown}`));
      await page.reload();
      await rows(page)
        .nth(shown - 1)
        .waitFor();
    });
  });

  test("filters by status, in the URL, and back undoes it", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByLabel("status").selectOption("failed");
      await page.waitForURL(/status=failed/);
      const { total } = await daemon.get("/api/v1/runs?status=failed&limit=1");
      assert.ok(total > 0, "the sample tree holds failures");
      await until("only failed runs", async () => (await rows(page).count()) === total);
      for (const text of await cells(page, "status").allInnerTexts()) assert.match(text, /failed/);
      await page.reload();
      await until("the same after a reload", async () => (await rows(page).count()) === total);
      await page.goBack();
      await until("all runs again", async () => (await rows(page).count()) === 50);
    });
  });

  test("sorts by step time, by keyboard, and says so", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByRole("button", { name: /Step time/ }).focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(/sort=step_time_s_mean/);
      await page.locator('th.col-step_time[aria-sort="ascending"]').waitFor();
      const expected = await daemon.get("/api/v1/runs?sort=step_time_s_mean&limit=50");
      await until("the API's order", async () => {
        const ids = await rows(page).evaluateAll((all) =>
          all.map((row) => Number(row.dataset.run)),
        );
        return ids.join() === expected.runs.map((run) => run.id).join();
      });
      const means = (await cells(page, "step_time").allInnerTexts()).map(parseFloat);
      const known = means.filter(Number.isFinite);
      assert.ok(known.length > 10);
      assert.deepEqual(
        known,
        [...known].sort((a, b) => a - b),
      );
    });
  });

  test("says what to do when nothing matches", async () => {
    await withPage(browser, `${daemon.url}/?q=nosuchrun`, {}, async (page) => {
      await page.getByRole("heading", { name: "No run matches" }).waitFor();
      await page.getByRole("button", { name: "Clear filters" }).last().click();
      await rows(page).first().waitFor();
      assert.equal(new URL(page.url()).search, "");
    });
  });

  test("finds a run as its name is typed", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByLabel("name or path").pressSequentially("gpus384");
      await until("one run", async () => (await rows(page).count()) === 1);
      assert.match(await cells(page, "experiment").innerText(), /gpus384/);
    });
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`fits a narrow screen (${colorScheme})`, async () => {
      const options = { viewport: { width: 390, height: 800 }, colorScheme };
      await withPage(browser, `${daemon.url}/`, options, async (page) => {
        await rows(page).first().waitFor();
        assert.equal(await overflow(page), 0);
        await page.locator("a.name").first().click();
        await page.locator(".plot canvas").first().waitFor();
        assert.equal(await overflow(page), 0);
      });
    });
  }

  test("lets the keyboard skip to the content", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.keyboard.press("Tab");
      assert.equal(
        await page.evaluate(() => document.activeElement?.textContent),
        "Skip to content",
      );
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    });
  });
});

function overflow(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}

describe("the page of a run", () => {
  async function findRun(query) {
    const { runs } = await daemon.get(`/api/v1/runs?limit=1&${query}`);
    assert.equal(runs.length, 1, query);
    return runs[0];
  }

  test("shows the mean over the window as the API gives it", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    assert.equal(run.status, "complete");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const figure = page.locator(".figure-value").first();
      await figure.waitFor();
      const mean = run.step_time_s_mean.toFixed(3);
      const deviation = run.step_time_s_stddev_sample.toFixed(3);
      assert.equal(await figure.innerText(), `${mean} ± ${deviation} s`);
      assert.equal(await page.locator(".reason").innerText(), run.status_reason);
      assert.equal(await page.locator("h1").textContent(), run.experiment);
      for (const chart of await page.locator(".plot canvas").all()) await assertDrawn(chart);
      assert.equal(await page.locator(".plot canvas").count(), 2);
    });
  });

  test("takes another window, and refuses one that is none", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const field = page.getByRole("textbox", { name: "window" });
      await field.fill("44-11");
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByText("The first iteration is after the last one.").waitFor();
      await field.fill("20-30");
      await field.press("Enter");
      await page.waitForURL(/window=20-30/);
      await page.getByText("Window 20-30 is whole.").waitFor();
      const count = page.locator(".numbers tbody td").first();
      assert.equal(await count.innerText(), "11");
      await page.getByRole("button", { name: `Back to ${run.window}` }).click();
      await page.getByText(`Window ${run.window} is whole.`).waitFor();
    });
  });

  test("keeps the warm-up off the scale until asked", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.getByText("1 step beyond the scale").first().waitFor();
      await page.getByLabel("show warm-up and outliers").check();
      await page.waitForURL(/scale=all/);
      await page.getByText("1 step beyond the scale").first().waitFor({ state: "detached" });
    });
  });

  test("lists every step in a table beside the charts", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.getByText("Table of 50 steps").click();
      const lines = page.locator(".twin tbody tr");
      await lines.nth(49).waitFor();
      assert.equal(await lines.count(), 50);
      assert.match(await lines.nth(12).innerText(), new RegExp(`^12\\s+yes\\s+${stepTime(12)}`));
    });
  });

  test("quotes the line that ended a failed run", async () => {
    const run = await findRun("status=failed");
    const { events } = await daemon.get(`/api/v1/runs/${run.id}`);
    const failure = events.find((event) => event.kind === "failure");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const quote = page.locator(".event-failure blockquote").first();
      await quote.waitFor();
      assert.equal(await quote.textContent(), failure.line);
    });
  });

  test("names the source of every configuration value", async () => {
    const run = await findRun("workload=pretrain_grok1");
    const { configuration } = await daemon.get(`/api/v1/runs/${run.id}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const lines = page.locator(".configuration tbody tr");
      await lines.first().waitFor();
      assert.equal(await lines.count(), configuration.length);
      for (const source of await page.locator(".configuration .source").allInnerTexts()) {
        assert.match(source, /file|name|path|log/);
      }
    });
  });

  test("says that a run hangs, and for how long its log has been silent", async () => {
    const run = await findRun(`experiment=${hung.experiment}`);
    assert.equal(run.failure_cause, "hung");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const note = page.locator(".hung");
      await note.waitFor();
      assert.match(await note.innerText(), /Hung: silent for [4-9] min/);
    });
  });

  test("shows what other tools would report, as the API has it", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    const { tools } = await daemon.get(`/api/v1/runs/${run.id}/agreement`);
    const readers = tools.filter((tool) => tool.reads_such_logs);
    assert.ok(readers.length > 2);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const lines = page.locator(".agreement tbody tr");
      await lines.nth(readers.length).waitFor(); // ours is the first
      for (const [at, tool] of readers.entries()) {
        const text = await lines.nth(at + 1).innerText();
        for (const part of [tool.tool, tool.release, tool.why]) {
          assert.ok(text.includes(part), `${part} in ${text}`);
        }
      }
      const field = page.getByRole("textbox", { name: "window" });
      await field.fill("last");
      await field.press("Enter");
      await page.waitForURL(/window=last/);
      await until("our window in the table", async () =>
        (await lines.first().innerText()).includes("49-49"),
      );
    });
  });

  test("opens every run of the sample tree without a complaint", async () => {
    const { runs } = await daemon.get("/api/v1/runs?limit=100");
    const others = runs.filter((run) => run.gpu_count !== kManyGpus);
    assert.ok(others.length > 10);
    for (const run of others) {
      await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
        await page
          .locator(run.step_count > 0 ? ".plot canvas" : ".nothing")
          .first()
          .waitFor();
      });
    }
  });

  test("says so when there is no such run", async () => {
    await withPage(browser, `${daemon.url}/runs/999999`, {}, async (page, complaints) => {
      await page.locator(".panel-problem").waitFor();
      assert.ok((await page.locator(".panel-problem p").innerText()).length > 10);
      complaints.expect(/999999|status of 404/);
    });
  });
});

describe("comparing runs", () => {
  const picks = (page) => page.getByRole("checkbox", { name: /^Compare/ });

  test("goes from picks in the table to a comparison, by its URL", async () => {
    await withPage(browser, `${daemon.url}/?q=gpus${kManyGpus}_`, {}, async (page) => {
      await rows(page).nth(1).waitFor();
      await picks(page).nth(0).check();
      await picks(page).nth(1).check();
      await page.waitForURL(/pick=\d+%2C\d+/);
      const ids = await rows(page).evaluateAll((all) => all.map((row) => Number(row.dataset.run)));
      await page.getByRole("link", { name: "Compare" }).click();
      await page.waitForURL(new RegExp(`/compare\\?runs=${ids[0]},${ids[1]}`));
      const lines = page.locator("table.compared tbody tr");
      await lines.nth(1).waitFor();
      const { runs } = await daemon.get(`/api/v1/compare?runs=${ids[0]},${ids[1]}`);
      assert.equal(await lines.count(), 2);
      assert.match(await lines.first().innerText(), new RegExp(`job ${runs[0].job_id}`));
      assert.equal(await page.getByRole("heading", { name: "Not comparable" }).count(), 0);
      await page.getByText("← Runs").click();
      await rows(page).first().waitFor();
      assert.match(page.url(), /pick=/);
    });
  });

  test("takes eight at most", async () => {
    await withPage(browser, `${daemon.url}/?q=gpus${kManyGpus}_`, {}, async (page) => {
      await rows(page).nth(9).waitFor();
      for (let at = 0; at < 8; at += 1) await picks(page).nth(at).check();
      await page.getByText("no more than 8").waitFor();
      assert.equal(await picks(page).nth(8).isDisabled(), true);
    });
  });

  test("says what is not comparable, and in what the runs differ", async () => {
    const complete = "/api/v1/runs?status=complete&limit=1";
    const grok = await daemon.get(`${complete}&workload=pretrain_grok1`);
    const llama = await daemon.get(`${complete}&workload=pretrain_llama3.1`);
    const query = `runs=${grok.runs[0].id},${llama.runs[0].id}`;
    const answer = await daemon.get(`/api/v1/compare?${query}`);
    await withPage(browser, `${daemon.url}/compare?${query}`, {}, async (page) => {
      const banner = page.locator(".banner");
      await banner.waitFor();
      assert.match(await banner.innerText(), /Not comparable/);
      for (const { text } of answer.comparisons[0].obstacles) {
        assert.ok((await banner.innerText()).includes(text), text);
      }
      const table = page.getByRole("region", { name: "In what they differ" });
      assert.equal(await table.locator("tbody tr").count(), answer.differences.length);
    });
  });

  test("leaves a failed run out with its reason, until asked", async () => {
    const failed = await daemon.get("/api/v1/runs?status=failed&q=nemotron4&limit=1");
    const whole = await daemon.get("/api/v1/runs?status=complete&q=nemotron4&limit=1");
    const query = `runs=${whole.runs[0].id},${failed.runs[0].id}`;
    await withPage(browser, `${daemon.url}/compare?${query}`, {}, async (page) => {
      await page.getByText("1 run left out").click();
      await page.getByRole("button", { name: /Count those that are failed/ }).click();
      await page.waitForURL(/include=failed/);
      await page.getByRole("button", { name: /Leave failed out again/ }).waitFor();
    });
  });

  test("says what to do without runs", async () => {
    await withPage(browser, `${daemon.url}/compare`, {}, async (page) => {
      await page.getByRole("heading", { name: "Nothing to compare yet" }).waitFor();
    });
  });
});

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
          const gpus = await section.locator("tbody th").allInnerTexts();
          assert.deepEqual(
            gpus.map((text) => Number(text.replaceAll(",", ""))),
            points.map((point) => point.gpu_count),
          );
        }
        assert.equal(await overflow(page), 0);
      });
    });
  }

  test("keeps its filter in the URL", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await page.getByRole("link", { name: "Scaling" }).click();
      await page.getByLabel("workload").selectOption("pretrain_grok1");
      await page.waitForURL(/scaling\?workload=pretrain_grok1/);
      for (const name of await page.locator("section.charts h2").allInnerTexts()) {
        assert.match(name, /grok1/);
      }
    });
  });
});

async function assertDrawn(canvas) {
  const colours = await canvas.evaluate((element) => {
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4)
      seen.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
    return seen.size;
  });
  assert.ok(colours > 5, `the canvas holds ${colours} colours`);
}

describe("live", () => {
  test("a growing log moves its row and its page without a reload", async () => {
    const url = `${daemon.url}/?q=gpus384`;
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

  test("a new log appears by itself", async () => {
    await withPage(browser, `${daemon.url}/?q=gpus640`, {}, async (page) => {
      await page.getByRole("heading", { name: "No run matches" }).waitFor();
      const log = new NemoLog(daemon.tree, { gpus: 640, jobId: 60002, launchedAt: 1800000100 });
      log.growTo(3);
      await until("its row", async () => (await rows(page).count()) === 1, 30_000);
    });
  });

  test("a restart of the daemon is shown, and survived", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page, complaints) => {
      await page.getByText("live", { exact: true }).waitFor();
      await daemon.stop();
      await page.getByText("reconnecting").waitFor();
      await daemon.start();
      await page.getByText("live", { exact: true }).waitFor({ timeout: 45_000 });
      complaints.expect(/ERR_|Failed to load resource/);
    });
  });
});

describe("an empty tree", () => {
  test("says where logs are looked for", async () => {
    const empty = await Daemon.make();
    try {
      mkdirSync(path.join(empty.tree, "experiments"), { recursive: true });
      await empty.start();
      await withPage(browser, `${empty.url}/`, {}, async (page) => {
        await page.getByRole("heading", { name: "No runs yet" }).waitFor();
        await page.getByText(empty.tree).waitFor();
      });
    } finally {
      await empty.remove();
    }
  });
});
