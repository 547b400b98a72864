// The page of a run: figures, charts, failures, evidence, configuration.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { violations } from "./axe.mjs";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { experimentName, stepTime } from "./logs.mjs";
import { assertDrawn, downloadBy, hasFocus, kA4Width, settled } from "./page.mjs";
import { cascaded, daemon, findRun, kManyGpus, makeHung, reported, traced } from "./site.mjs";
import { browser } from "./started_browser.mjs";

describe("the page of a run", () => {
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
      const facts = await page.locator(".run-head .facts").innerText();
      assert.match(facts, new RegExp(`Run\\s+${run.id}\\s`));
      await page.locator(".plot canvas").nth(1).waitFor();
      for (const chart of await page.locator(".plot canvas").all()) await assertDrawn(chart);
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
      await page.getByRole("button", { name: `Back to ${run.window}` }).press("Enter");
      await page.getByText(`Window ${run.window} is whole.`).waitFor();
    });
  });

  test("keeps the warm-up off the scale until asked", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.getByText("▲ 1 step above the scale").first().waitFor();
      await page.getByLabel("show warm-up and outliers").check();
      await page.waitForURL(/scale=all/);
      await page.getByText("▲ 1 step above the scale").first().waitFor({ state: "detached" });
    });
  });

  test("shows the whole way of a gradient norm that falls", async () => {
    const run = await findRun("job_id=658572");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const chart = (title) =>
        page.locator("figure.chart").filter({ has: page.getByRole("heading", { name: title }) });
      await chart("Step time").getByText("above the scale").waitFor();
      assert.equal(await chart("Gradient norm").locator(".readout").innerText(), "");
    });
  });

  test("lists every step in a table beside the charts", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    const options = { reducedMotion: "reduce" };
    await withPage(browser, `${daemon.url}/runs/${run.id}`, options, async (page) => {
      await page.getByText("Table of 50 steps").click();
      const lines = page.locator(".twin tbody tr");
      await lines.nth(49).waitFor();
      assert.equal(await lines.count(), 50);
      assert.match(await lines.nth(12).innerText(), new RegExp(`^12\\s+yes\\s+${stepTime(12)}`));
      assert.deepEqual(await violations(page), []);
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

  test("says what failed first, what followed, and what to do", async () => {
    const run = await findRun("status=failed&q=llama3_8b");
    const { failure } = await daemon.get(`/api/v1/runs/${run.id}`);
    assert.equal(failure.cause, "cuda_oom");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const card = page.locator(".failure-card");
      await card.getByRole("heading", { name: "Why it failed: CUDA out of memory" }).waitFor();
      const text = await card.innerText();
      for (const part of [failure.line, failure.advice]) assert.ok(text.includes(part), part);
      await card.getByText(/task exited/).waitFor();
    });
  });

  test("tells root, cascade and symptoms of a failure apart, the root first", async () => {
    const run = await findRun(`experiment=${cascaded.experiment}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const parts = page.locator(".failure-card .failure-parts li");
      await parts.first().waitFor();
      const [root, cascade, symptom] = await parts.allInnerTexts();
      assert.match(root, /^root\s+CUDA out of memory on rank 3\s/);
      assert.match(cascade, /^cascade\s+NCCL timeout on rank 8: .*Watchdog caught/s);
      assert.match(symptom, /^symptom\s+task exited.*: srun: error/s);
      assert.deepEqual(await page.locator(".event .role").allInnerTexts(), [
        "root",
        "cascade",
        "symptom",
      ]);
    });
  });

  test("has the headline figures as the API derives them, each with its formula", async () => {
    const run = await findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");
    const { metrics, speed_against_reference: speed } = await daemon.get(
      `/api/v1/runs/${run.id}/metrics`,
    );
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const figure = (name) => page.locator(".figure").filter({ hasText: name });
      await figure("MFU").waitFor();
      const { mfu } = metrics;
      const percent = `${(100 * mfu.value).toFixed(1)} %`;
      assert.equal(await figure("MFU").locator(".figure-value").innerText(), percent);
      await figure("MFU").getByText("how it is made").click();
      assert.equal(await figure("MFU").locator("code").innerText(), mfu.formula);
      assert.equal(await figure("MFU").locator("dl > div").count(), mfu.inputs.length);
      const tokens = Math.round(metrics.tokens_per_s.value).toLocaleString("en-US");
      assert.equal(await figure("Tokens/s").locator(".figure-value").innerText(), tokens);
      const against = await figure("Against published").locator(".figure-value").innerText();
      assert.match(against, speed < 0.9995 ? /slower/ : speed > 1.0005 ? /faster/ : /equal/);
    });
  });

  test("says in words what stands out in the steps", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    const insight = await daemon.get(`/api/v1/runs/${run.id}/insight`);
    assert.equal(insight.warm_up_step_count, 1);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.getByText("Warm-up: the first step, iteration 0, is slower.").waitFor();
      await page.getByText(/A steady step takes 7\.38/).waitFor();
    });
  });

  test("marks warm-up, checkpoints and evaluations, and says them in words", async () => {
    const run = await findRun(`experiment=${traced.experiment}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.getByText(/^1 step holds a checkpoint \(iteration 25\): in the mean/).waitFor();
      await page.getByText(/^1 step holds an evaluation \(iteration 35\): in the mean/).waitFor();
      const legend = await page.locator(".charts .legend").first().innerText();
      for (const word of ["warm-up", "checkpoint", "evaluation"]) {
        assert.ok(legend.includes(word), `${word} in ${legend}`);
      }
      const plot = page.locator(".plot .u-over").first();
      const readout = page.locator(".readout").first();
      await plot.scrollIntoViewIfNeeded();
      const box = await settled(page, () => plot.boundingBox());
      for (const [iteration, words] of [[0, "warm-up"], [35, "holds an evaluation"]]) {
        await page.mouse.move(box.x + (box.width * (iteration + 0.5)) / 50, box.y + 20);
        await until(words, async () =>
          new RegExp(`iteration ${iteration} .*${words}`).test(await readout.innerText()),
        );
      }
    });
  });

  test("draws the loss beside step time and TFLOPS", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      for (const title of ["Step time", "TFLOPS per GPU", "Loss", "Learning rate"]) {
        const chart = page.locator(".chart").filter({ hasText: title }).first();
        await chart.waitFor();
        await assertDrawn(chart.locator("canvas"));
      }
    });
  });

  test("has checkpoints and the collectives of a trace", async () => {
    const run = await findRun(`experiment=${traced.experiment}`);
    assert.equal(run.is_traced, true);
    const { checkpoints } = await daemon.get(`/api/v1/runs/${run.id}/checkpoints`);
    const { operations } = await daemon.get(`/api/v1/runs/${run.id}/nccl`);
    assert.ok(checkpoints.length > 0 && operations.length > 1);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const table = (name) => page.getByRole("region", { name: `Table: ${name}`, exact: true });
      await table("Collectives").waitFor();
      assert.equal(await table("Collectives").locator("tbody tr").count(), operations.length);
      assert.match(await table("Collectives").innerText(), /AllReduce/);
      assert.equal(await table("Checkpoints").locator("tbody tr").count(), checkpoints.length);
      await page.getByText("Its log holds an NCCL trace").waitFor();
    });
  });

  test("shows what the log says of its ranks", async () => {
    const run = await findRun(`experiment=${reported.experiment}`);
    const { measures } = await daemon.get(`/api/v1/runs/${run.id}/ranks`);
    assert.equal(measures.length, 5);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const table = page.getByRole("region", { name: "Table: Ranks", exact: true });
      await table.waitFor();
      assert.equal(await table.locator("tbody tr").count(), measures.length);
      assert.match(await table.innerText(), /round trip time\s.*highest\s+11\s.*0\.7625 s/);
      assert.match(await table.innerText(), /NVRx\s+flagged\s+11\s+node-2/);
    });
  });

  test("takes hostile names and lines for text", async () => {
    const run = await findRun(`q=onerror`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.locator(".failure-card").waitFor();
      assert.match(await page.locator("h1").textContent(), /<img/);
      assert.match(await page.locator(".failure-card code").first().innerText(), /<script>/);
      assert.equal(await page.evaluate(() => window.wasHostile), undefined);
      assert.equal(await page.locator("main img, main script").count(), 0);
    });
  });

  test("prints as a report without its controls", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      await page.locator(".plot canvas").first().waitFor();
      await page.emulateMedia({ media: "print" });
      assert.equal(await page.locator(".window-form").isVisible(), false);
      assert.equal(await page.locator(".pages").isVisible(), false);
      assert.equal(await page.locator(".plot canvas").first().isVisible(), true);
    });
  });

  test("prints on two sheets at most, charts whole", async () => {
    const complete = await findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");
    const names = [`experiment=${traced.experiment}`, `experiment=${cascaded.experiment}`];
    const runs = [complete, ...(await Promise.all(names.map(findRun)))];
    for (const colorScheme of ["light", "dark"]) {
      for (const run of runs) {
        await withPage(browser, `${daemon.url}/runs/${run.id}`, { colorScheme }, async (page) => {
          await page.locator(".plot canvas").first().waitFor();
          await page.getByRole("heading", { name: "Configuration" }).waitFor();
          for (const format of ["A4", "Letter"]) {
            const pdf = (await page.pdf({ format })).toString("latin1");
            const sheets = pdf.match(/\/Type\s*\/Page\b/g).length;
            assert.ok(sheets <= 2, `run ${run.id} on ${format}: ${sheets} sheets`);
          }
          await page.setViewportSize({ width: kA4Width, height: 1000 });
          await page.emulateMedia({ media: "print", colorScheme });
          await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
          const room = await settled(page, () =>
            page.locator(".chart").evaluateAll((charts) =>
              charts.map((chart) => {
                const card = chart.getBoundingClientRect();
                const plot = chart.querySelector("canvas").getBoundingClientRect();
                return [card.right - plot.right, card.bottom - plot.bottom];
              }),
            ),
          );
          assert.ok(room.flat().every((space) => space >= 0), JSON.stringify(room));
        });
      }
    }
  });

  test("names the source of every configuration value", async () => {
    const run = await findRun("workload=pretrain_grok1&gpu_type=gb200");
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
    const run = await makeHung();
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const note = page.locator(".hung");
      await note.waitFor();
      const words = await note.innerText();
      assert.match(words, /Hung: silent for [4-9] min, since [-\d]+ [:\d]+, without/);
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

  test("shows the log around a failure, an event and a step", async () => {
    const { runs } = await daemon.get("/api/v1/runs?status=failed&limit=100");
    const details = await Promise.all(runs.map((run) => daemon.get(`/api/v1/runs/${run.id}`)));
    const run = details.find((each) => each.failure?.offset > 1000 && each.step_count > 5);
    assert.ok(run, "a run that failed after some steps");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const chosen = page.locator(".log-lines .is-chosen");
      await page.getByRole("button", { name: "the log around it" }).click();
      await page.waitForURL(new RegExp(`log=${run.failure.offset}`));
      await until("the failure's line", async () =>
        (await chosen.innerText()).includes(run.failure.line.slice(0, 60).trim()),
      );
      assert.ok((await page.locator(".log-lines li").count()) > 3, "with its neighbours");
      const count = await page.locator(".log-lines li").count();
      const earlier = page.getByRole("button", { name: "Earlier lines" });
      if (await earlier.count()) {
        await earlier.click();
        await until(
          "more lines",
          async () => (await page.locator(".log-lines li").count()) > count,
        );
      }
      await page.getByText(/^Table of/).click();
      await page.locator(".twin tbody tr").nth(3).getByRole("button").click();
      const { iteration } = await daemon.get(`/api/v1/runs/${run.id}/steps`);
      await until("the step's line", async () =>
        new RegExp(`\\b${iteration[3]}/`).test(await chosen.innerText()),
      );
      await page.reload();
      await chosen.waitFor();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await page.locator(".log-lines").waitFor({ state: "detached" });
    });
  });

  test("finds lines of the log, and leads to them", async () => {
    const run = await findRun(`experiment=${experimentName(kManyGpus, 1024)}`);
    const { iteration, byte_offset } = await daemon.get(`/api/v1/runs/${run.id}/steps`);
    const options = { reducedMotion: "reduce" };
    await withPage(browser, `${daemon.url}/runs/${run.id}`, options, async (page, complaints) => {
      const field = page.getByRole("searchbox", { name: "Find in the log" });
      const found = page.getByRole("list", { name: "Lines that were found" });
      await field.fill("ITERATION 2");
      await field.press("Enter");
      await page.waitForURL(/find=ITERATION/);
      await page.getByRole("status").getByText(/^11 lines\.$/).waitFor();
      assert.equal(await found.locator("mark").first().innerText(), "iteration 2");
      await found.getByRole("button").nth(3).click();
      await page.waitForURL(new RegExp(`log=${byte_offset[iteration.indexOf(22)]}\\b`));
      await page.locator(".log-lines .is-chosen").getByText("iteration 22").waitFor();
      await page.reload();
      await found.locator("[aria-current]").getByText("iteration 22").waitFor();
      assert.deepEqual(await violations(page), []);
      complaints.expect(/log\/matches\?pattern.* 400|status of 400/);
      await field.fill("/iteration (/");
      await field.press("Enter");
      await page.getByText("missing )").waitFor();
      await field.fill("no such words");
      await page.getByRole("button", { name: "Find" }).click();
      await page.getByText("No line holds it.").waitFor();
    });
  });

  test("takes the focus to the log's lines, and back to who asked for them", async () => {
    const { runs } = await daemon.get("/api/v1/runs?status=failed&limit=100");
    const details = await Promise.all(runs.map((run) => daemon.get(`/api/v1/runs/${run.id}`)));
    const run = details.find((each) => each.failure?.offset > 1000);
    const size = { viewport: { width: 1440, height: 600 } };
    await withPage(browser, `${daemon.url}/runs`, size, async (page) => {
      await page.goto(`${daemon.url}/runs/${run.id}`);
      const asker = page.getByRole("button", { name: "the log around it" });
      const lines = page.getByRole("region", { name: "Lines of the log" });
      await page.locator(".plot canvas, .nothing").first().waitFor();
      for (const leave of [
        () => page.goBack(),
        () => page.getByRole("button", { name: "Close", exact: true }).press("Enter"),
      ]) {
        await asker.press("Enter");
        await hasFocus(lines);
        await lines.and(page.locator("[aria-describedby='log-chosen']")).waitFor();
        await leave();
        await lines.waitFor({ state: "detached" });
        await hasFocus(asker);
        assert.match(page.url(), new RegExp(`/runs/${run.id}$`));
      }
      await asker.press("Enter");
      await hasFocus(lines);
      await page.getByRole("button", { name: "End", exact: true }).press("Enter");
      await page.waitForURL(/log=end/);
      await hasFocus(page.getByRole("button", { name: "End", exact: true }));
      await page.goBack(); // however often the log was looked at and closed
      await page.waitForURL(new RegExp(`/runs/${run.id}$`));
      await hasFocus(asker);
      await page.goBack();
      await page.waitForURL(/\/runs$/);
    });
  });

  test("wraps the log's lines, and saves them", async () => {
    const run = await findRun(`experiment=${traced.experiment}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}?log=end`, {}, async (page) => {
      const lines = page.locator(".log-lines");
      await lines.locator("li").first().waitFor();
      const beyond = () => lines.evaluate((box) => box.scrollWidth - box.clientWidth);
      await page.setViewportSize({ width: 700, height: 900 });
      await until("wider than its box", async () => (await beyond()) > 0);
      await page.getByLabel("wrap lines").check();
      await until("wrapped", async () => (await beyond()) === 0);
      const save = page.getByRole("button", { name: "Save these lines" });
      const file = await downloadBy(page, () => save.click());
      assert.equal(file.suggestedFilename(), `run-${run.id}.log`);
      const saved = readFileSync(await file.path(), "utf8");
      assert.deepEqual(saved.trimEnd().split("\n"), await lines.locator("code").allInnerTexts());
    });
  });

  test("leads from a point of a chart to its line of the log", async () => {
    const run = await findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const plot = page.locator(".plot .u-over").first();
      await plot.scrollIntoViewIfNeeded();
      const box = await settled(page, () => plot.boundingBox());
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      const readout = page.locator(".readout").first();
      const [, iteration] = await until("the step under the pointer", async () =>
        /iteration (\d+)/.exec(await readout.innerText()),
      );
      await page.mouse.down();
      await page.mouse.up();
      const chosen = page.locator(".log-lines .is-chosen");
      await until("the line of that iteration", async () =>
        new RegExp(`\\b${iteration}/`).test(await chosen.innerText()),
      );
    });
  });

  test("shows a hostile line of the log as text", async () => {
    const run = await findRun("q=gpus8&job_id=60005");
    const { events } = await daemon.get(`/api/v1/runs/${run.id}`);
    const at = events[0].offset;
    await withPage(browser, `${daemon.url}/runs/${run.id}?log=${at}`, {}, async (page) => {
      await page.locator(".log-lines .is-chosen").getByText("<script>wasHostile=1").waitFor();
      assert.equal(await page.evaluate(() => window.wasHostile), undefined);
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
      await page.getByRole("heading", { name: "Run 999999", level: 1 }).waitFor();
      assert.ok((await page.locator(".panel-problem p").innerText()).length > 10);
      complaints.expect(/999999|status of 404/);
    });
  });
});
