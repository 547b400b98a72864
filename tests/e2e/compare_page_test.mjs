// Comparing runs, from the picks in the table on.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { violations } from "./axe.mjs";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { stepTime } from "./logs.mjs";
import { assertDrawn, downloadBy, fits, rows, settled, twoFrames } from "./page.mjs";
import { daemon, findRun, kManyGpus, traced } from "./site.mjs";
import { browser } from "./started_browser.mjs";

describe("comparing runs", () => {
  const picks = (page) => page.getByRole("checkbox", { name: /^Compare/ });

  test("goes from picks in the table to a comparison, by its URL", async () => {
    await withPage(browser, `${daemon.url}/runs?q=gpus${kManyGpus}_`, {}, async (page) => {
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
      // Their logs have the same bytes.
      const banner = page.locator(".banner");
      await banner.getByRole("heading", { name: "Not comparable" }).waitFor();
      await banner.getByText(runs[1].exclusion).waitFor();
      await page.getByText("← Runs").click();
      await rows(page).first().waitFor();
      assert.match(page.url(), /pick=/);
    });
  });

  test("says which way a difference goes, and draws the steps over each other", async () => {
    const { runs } = await daemon.get(`/api/v1/runs?limit=2&q=gpus${kManyGpus}_`);
    const other = await daemon.get("/api/v1/runs?limit=1&q=gpus768_");
    const ids = [...runs.map((run) => run.id), other.runs[0].id];
    const url = `${daemon.url}/compare?runs=${ids.join(",")}&include=running,incomplete`;
    await withPage(browser, url, {}, async (page) => {
      const verdict = page.locator(".verdicts .told").first();
      await verdict.waitFor();
      assert.match(await verdict.innerText(), /as fast|% (slower|faster)|not comparable/);
      await assertDrawn(page.locator(".plot-overlay canvas"));
      assert.equal(await page.locator(".segment-key li").count(), 3);
    });
  });

  test("measures the runs over the steps that are asked for, as the URL says", async () => {
    const { runs } = await daemon.get(`/api/v1/runs?limit=2&q=gpus${kManyGpus}_`);
    const ids = runs.map((run) => run.id).join(",");
    await withPage(browser, `${daemon.url}/compare?runs=${ids}`, {}, async (page) => {
      const steps = page.locator(".measured-over select");
      await steps.selectOption("not after a checkpoint");
      await page.waitForURL(/without=checkpoint/);
      await page.reload();
      assert.equal(await steps.inputValue(), "checkpoint");
      await page.locator("table.compared tbody tr").nth(1).waitFor();
    });
  });

  test("leads to each run over the same steps, which its page leaves out, too", async () => {
    const ours = (page, count) =>
      page.locator(".agreement tr.is-ours").getByText(String(count), { exact: true });
    const { runs } = await daemon.get(`/api/v1/runs?limit=1&q=gpus${kManyGpus}_`);
    const saved = await findRun(`experiment=${traced.experiment}`);
    const url = `${daemon.url}/compare?runs=${saved.id},${runs[0].id}&without=checkpoint`;
    await withPage(browser, url, {}, async (page) => {
      await page.locator("table.compared tbody a").first().click();
      await page.waitForURL(/runs\/\d+\?without=checkpoint/);
      const note = page.locator(".numbers .window-note");
      await note.getByText("1 step of it left out").waitFor();
      await ours(page, 33).waitFor();
      await page.locator(".measured-over select").selectOption({ label: "all" });
      await page.waitForURL((to) => !to.searchParams.has("without"));
      await note.getByText("left out").waitFor({ state: "detached" });
      await ours(page, 34).waitFor();
    });
  });

  test("shows how the steps of each run's window spread, with a table as twin", async () => {
    const { runs } = await daemon.get(`/api/v1/runs?limit=2&q=gpus${kManyGpus}_`);
    const ids = runs.map((run) => run.id);
    await withPage(browser, `${daemon.url}/compare?runs=${ids.join(",")}`, {}, async (page) => {
      const plot = page.locator(".distribution-plot");
      await plot.waitFor();
      assert.equal(await plot.locator("circle.dot").count(), 2 * 34); // iterations 11 to 44
      assert.equal(await plot.locator("rect.quartiles").count(), 2);
      // At 390 px, too, no name of a run lies on a dot or a box.
      await page.setViewportSize({ width: 390, height: 900 });
      await twoFrames(page);
      const covered = () =>
        plot.locator("svg").evaluate((svg) => {
          const boxes = (of) =>
            [...svg.querySelectorAll(of)].map((one) => one.getBoundingClientRect());
          const marks = boxes("circle.dot, rect.quartiles");
          return boxes(".row-name").filter((name) =>
            marks.some((mark) => mark.top < name.bottom && mark.bottom > name.top),
          ).length;
        });
      assert.equal(await settled(page, covered), 0);
      await page.setViewportSize({ width: 1280, height: 900 });
      await twoFrames(page);
      await plot.locator("svg").hover();
      await plot.getByText(/^A: job \d+: \d+ % of its steps$/).waitFor();
      await plot.getByText("As a table").click();
      const row = plot.locator("tbody tr").first();
      const times = Array.from({ length: 34 }, (_, at) => stepTime(at + 11));
      const [name, count, low] = await row.locator("th, td").allInnerTexts();
      assert.match(name, /^A: job/);
      assert.deepEqual([count, Number(low)], ["34", Math.min(...times)]);
      await plot.getByText("Copy", { exact: true }).click();
      const save = plot.getByRole("button", { name: "Save as PNG" });
      const file = await downloadBy(page, () => save.click());
      assert.equal(file.suggestedFilename(), "step-time-distributions.png");
    });
  });

  test("takes eight at most", async () => {
    await withPage(browser, `${daemon.url}/runs?q=gpus${kManyGpus}_`, {}, async (page) => {
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
      const table = page.getByRole("region", { name: "Table of differences" });
      assert.equal(await table.locator("tbody tr").count(), answer.differences.length);
      await page.setViewportSize({ width: 390, height: 900 });
      const cells = page.locator("table.stacked tbody :is(th, td)");
      await cells.first().waitFor();
      await twoFrames(page);
      const beyond = () =>
        cells.evaluateAll((all) =>
          all
            .filter((cell) => cell.getBoundingClientRect().right > innerWidth)
            .map((cell) => cell.innerText),
        );
      assert.deepEqual(await settled(page, beyond), [], "on a phone no value is out of sight");
    });
  });

  test("leaves a failed run out with its reason, until asked", async () => {
    const failed = await daemon.get("/api/v1/runs?status=failed&q=nemotron4&limit=1");
    const whole = await daemon.get("/api/v1/runs?status=complete&q=nemotron4&limit=1");
    const query = `runs=${whole.runs[0].id},${failed.runs[0].id}`;
    await withPage(browser, `${daemon.url}/compare?${query}`, {}, async (page) => {
      const banner = page.locator(".banner");
      await banner.getByRole("heading", { name: "Not comparable" }).waitFor();
      await banner.getByText(`Run ${failed.runs[0].id} is left out.`).waitFor();
      const row = page.locator("table.compared tbody tr").first();
      assert.match(await row.innerText(), new RegExp(`run ${whole.runs[0].id} `));
      await page.setViewportSize({ width: 390, height: 900 });
      await page.getByText("1 run left out").click();
      await page.locator(".left-out li").getByText(`run ${failed.runs[0].id}, `).waitFor();
      await fits(page);
      await page.getByRole("button", { name: /Count those that are failed/ }).click();
      await page.waitForURL(/include=failed/);
      await page.getByRole("button", { name: /Leave failed out again/ }).waitFor();
    });
  });

  test("compares two groups that its reader names, and says what would decide", async () => {
    const query = "limit=4&q=nemotron4_15b_bf16_gpus128&sort=launched_at";
    const { runs } = await daemon.get(`/api/v1/runs?${query}`);
    const ids = runs.map((run) => run.id);
    await withPage(browser, `${daemon.url}/compare?runs=${ids.join(",")}`, {}, async (page) => {
      await page.getByText("Name groups").click();
      await page.getByLabel("the first group").fill("old switch");
      await page.getByLabel("the second, measured against the first").fill("new switch");
      // By the order of their launches, so that either has both configurations.
      for (const [at, id] of ids.entries()) {
        const choice = page.getByLabel(new RegExp(`run ${id},`));
        await choice.selectOption({ label: at < 2 ? "old switch" : "new switch" });
      }
      await page.getByRole("button", { name: "Compare these groups" }).click();
      await page.waitForURL(/base=\d+%2C\d+&base_name=old\+switch&candidate=/);
      await page.getByRole("heading", { name: "Against group old switch" }).waitFor();
      const group = page.locator("table.compared tbody td:first-child");
      await until("the names", async () =>
        ["old switch", "old switch", "new switch", "new switch"].join() ===
        (await group.allInnerTexts()).join(),
      );
      const sides = `base=${ids.slice(0, 2)}&candidate=${ids.slice(2)}`;
      const { comparisons } = await daemon.get(`/api/v1/compare?${sides}`);
      const { more_runs_to_decide: more, verdict } = comparisons[0].metrics.step_time_s;
      const means = page.getByRole("region", { name: "Table: Means of the groups" });
      const [step] = await means.locator("tbody tr").first().locator("td.number:nth-child(3)").all();
      assert.match(await step.innerText(), /^[\d.]+ ± [\d.]+\s+[\d.]+ to [\d.]+$/);
      assert.equal(verdict, "no_difference_shown");
      assert.ok(more > 0);
      const command = page.locator(".verdicts pre.command");
      const lines = (await command.innerText()).split("\n");
      const launch =
        "llmb-report submit -w pretrain_nemotron4 -s 15b --dtype bf16 --gpu-type h100 --scale 128";
      assert.deepEqual([lines[0], lines[2]], ["# old switch", "# new switch"]);
      for (const at of [1, 3]) assert.ok(lines[at].startsWith(`${launch} -r ${more}`), lines[at]);
      await page.reload();
      await page.getByRole("heading", { name: "Against group old switch" }).waitFor();
      await page.getByText("Name groups").click();
      await page.getByRole("link", { name: "Group them by configuration" }).click();
      await page.getByRole("heading", { name: "Against group A" }).waitFor();
    });
  });

  test("compares several groups that its reader names, each against the first", async () => {
    const query = "limit=4&q=nemotron4_15b_bf16_gpus128&sort=launched_at";
    const ids = (await daemon.get(`/api/v1/runs?${query}`)).runs.map((run) => run.id);
    const url = `${daemon.url}/compare?runs=${ids.join(",")}`;
    await withPage(browser, url, { reducedMotion: "reduce" }, async (page) => {
      await page.getByText("Name groups").click();
      const names = ["monday", "tuesday", "wednesday"];
      const fields = page.locator(".groups .field input");
      const another = page.getByRole("button", { name: "Another group" });
      await another.click();
      for (const [at, name] of names.entries()) await fields.nth(at).fill(name);
      for (const [at, id] of ids.entries()) {
        const label = names[Math.min(at, 2)];
        await page.getByLabel(new RegExp(`run ${id},`)).selectOption({ label });
      }
      await another.click();
      await page.getByText("Each group needs a run.").waitFor();
      const submit = page.getByRole("button", { name: "Compare these groups" });
      assert.equal(await submit.isDisabled(), true);
      await page.getByRole("button", { name: "Drop the last group" }).click();
      await submit.click();
      await page.getByRole("heading", { name: "Against group monday" }).waitFor();
      const sides = `base=${ids[0]}&candidate=${ids[1]};${ids[2]},${ids[3]}`;
      const { comparisons } = await daemon.get(`/api/v1/compare?${sides}`);
      const table = page.getByRole("region", { name: "Table: Step times of the groups" });
      await table.locator("tbody tr").nth(names.length - 2).waitFor();
      const cells = await table.locator("tbody tr").evaluateAll((all) =>
        all.map((row) => [...row.cells].map(({ innerText }) => innerText.trim())),
      );
      assert.deepEqual(cells.map(([name]) => name), names.slice(1));
      await until("every column is in sight", () =>
        table.evaluate((region) => region.scrollWidth === region.clientWidth),
      );
      for (const [at, { metrics }] of comparisons.entries()) {
        const { smallest_visible_difference: visible } = metrics.step_time_s;
        const [, against, interval, from, more] = cells[at];
        assert.match(against, /slower|faster|as fast/);
        assert.match(interval, /slower|faster/);
        assert.equal(from, `${(100 * visible).toFixed(2)} %`);
        assert.match(more, /^(decided|over 50|\d+)$/);
      }
      for (const name of names.slice(1)) {
        await page.getByRole("heading", { name: `Group ${name}` }).waitFor();
      }
      await page.reload();
      await page.getByRole("heading", { name: "Group wednesday" }).waitFor();
      await page.setViewportSize({ width: 390, height: 900 });
      await page.getByText("Name groups").click();
      await page.getByRole("link", { name: "Group them by configuration" }).waitFor();
      assert.deepEqual(await violations(page), []);
    });
  });

  test("says which of more than eight runs it leaves out", async () => {
    const { runs } = await daemon.get(`/api/v1/runs?limit=9&q=gpus${kManyGpus}_`);
    const ids = runs.map((run) => run.id);
    await withPage(browser, `${daemon.url}/compare?runs=${ids.join(",")}`, {}, async (page) => {
      const words = `names 9 runs, and a comparison takes 8: run ${ids[8]} is left out.`;
      await page.locator(".banner").getByText(words).waitFor();
      await page.locator("table.compared tbody tr").nth(7).waitFor();
    });
  });

  test("says of one run alone how it stands against its published result", async () => {
    const query = "status=complete&workload=pretrain_grok1&gpu_type=gb200&limit=1";
    const [{ id }] = (await daemon.get(`/api/v1/runs?${query}`)).runs;
    const { groups } = await daemon.get(`/api/v1/compare?runs=${id}`);
    const told = groups[0].published_standing.verdict.replace("_", " ");
    await withPage(browser, `${daemon.url}/compare?runs=${id}`, {}, async (page) => {
      await page.getByRole("heading", { name: "Against its published result" }).waitFor();
      await page.getByText(`Published speed: ${told}: `).waitFor();
      await page.locator("table.compared tbody tr").waitFor();
      assert.equal(await page.getByText("Name groups").count(), 0);
    });
  });

  test("says what to do without runs", async () => {
    await withPage(browser, `${daemon.url}/compare`, {}, async (page) => {
      await page.getByRole("heading", { name: "Nothing to compare yet" }).waitFor();
    });
  });
});
