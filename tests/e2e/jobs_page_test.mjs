// Submitting from the page: a dry run first. The cluster has no Slurm, so that what is submitted ends
// as not submitted, with the reason.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { fits, hasFocus } from "./page.mjs";
import { browser } from "./started_browser.mjs";

const runner = path.join(path.dirname(process.env.LLMB_REPORT_BIN), "llmb-step-runner");
const skip = existsSync(runner) ? false : `there is no ${runner}`;

describe("the form that submits jobs", { skip }, () => {
  let service;
  let token;
  before(async () => {
    service = await Daemon.make();
    service.nameCluster("ci");
    await service.start();
    token = service.makeToken("ci");
  });
  after(() => service?.remove());

  // A proxy: a runner without the CUDA backend trains no whole model, and is refused one.
  const kSubmission = "workload=pretrain_nemotron4&model_size=15b&dtype=bf16&scale=64";

  test("says in a dry run what would be submitted, and submits nothing", async () => {
    await withPage(browser, `${service.url}/jobs?${kSubmission}`, {}, async (page) => {
      await page.getByLabel("token of the scope submit").fill(token);
      await page.getByLabel("a proxy of fewer layers").check();
      const submit = page.getByRole("button", { name: "Submit", exact: true });
      assert.equal(await submit.isDisabled(), true, "not before it was looked at");
      const look = page.getByRole("button", { name: "Look at it first" });
      await look.press("Enter");
      await page.getByText(/Would run on 8 nodes of 8 GPUs/).waitFor();
      await hasFocus(look);
      await page.getByText("What sbatch would be told").click();
      await page.locator("pre.command").getByText("--nodes=8").waitFor();
      await until("it may be submitted", async () => !(await submit.isDisabled()));
      await page.getByLabel("model size").fill("340b");
      await page.getByText("The form has changed: look again.").waitFor();
      assert.equal(await submit.isDisabled(), true, "another submission is looked at anew");
      await page.locator(".is-old").getByText(/Would run on 8 nodes/).waitFor();
      await page.setViewportSize({ width: 390, height: 900 });
      await fits(page);
      assert.equal((await service.get("/api/v1/jobs")).jobs.length, 0);
    });
  });

  test("has one panel for repeats, which says how many there are", async () => {
    await withPage(browser, `${service.url}/jobs?${kSubmission}&repeats=8`, {}, async (page) => {
      await page.getByLabel("token of the scope submit").fill(token);
      await page.getByLabel("a proxy of fewer layers").check();
      await page.getByLabel("backend of the runner").selectOption("cpu");
      await page.getByRole("button", { name: "Look at it first" }).click();
      await page.getByRole("heading", { name: /, 8 times$/ }).waitFor();
      assert.equal(await page.locator(".dry-run").count(), 1);
    });
  });

  test("says of Slurm that it was not asked, where it was not", async () => {
    await withPage(browser, `${service.url}/health`, {}, async (page) => {
      const slurm = page.getByRole("region", { name: "Slurm" });
      await slurm.getByText("This server has not asked it so far").waitFor();
    });
  });

  test("lists the jobs that logs name beside those that were submitted, the older ones, too", async () => {
    const launchedAt = 1800000000;
    new NemoLog(service.tree, { gpus: 64, jobId: 64001, launchedAt }).growTo(20);
    await until("its run", async () => {
      const { runs } = await service.get("/api/v1/runs?job_id=64001");
      return runs.length === 1;
    });
    await withPage(browser, `${service.url}/health`, {}, async (page) => {
      await page.route(/\/api\/v1\/runs\?/, async (route) => {
        const response = await route.fetch();
        const list = await response.json();
        const isFirst = !new URL(route.request().url()).searchParams.has("cursor");
        const json = isFirst
          ? { ...list, runs: [], next_cursor: "an older page" }
          : { ...list, runs: (await service.get("/api/v1/runs")).runs, next_cursor: null };
        await route.fulfill({ status: 200, json });
      });
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      const named = page.getByRole("region", { name: "Jobs that the logs name", exact: true });
      await named.getByText(/^None yet/).waitFor();
      const older = named.getByRole("button", { name: "Show older jobs of logs" });
      await older.press("Enter");
      await named.getByText("64001").waitFor();
      await older.waitFor({ state: "detached" });
    });
  });

  test("shows why a submission is refused", async () => {
    const url = `${service.url}/jobs?${kSubmission}`;
    await withPage(browser, url, {}, async (page, complaints) => {
      await page.getByLabel("token of the scope submit").fill("no such token");
      await page.getByRole("button", { name: "Look at it first" }).click();
      await page.locator(".panel-problem").getByText("Unauthorized").waitFor();
      await page.getByLabel("token of the scope submit").fill(token);
      await page.getByLabel("GPU type").fill("abacus");
      await page.getByRole("button", { name: "Look at it first" }).click();
      await page.locator(".panel-problem").getByText(/abacus/).waitFor();
      complaints.expect(/status of 40[01]|\/api\/v1\/jobs/);
    });
  });

  test("submits what was looked at, and follows it", async () => {
    await withPage(browser, `${service.url}/jobs?${kSubmission}`, {}, async (page) => {
      await page.getByLabel("token of the scope submit").fill(token);
      await page.getByLabel("a proxy of fewer layers").check();
      await page.getByRole("button", { name: "Look at it first" }).click();
      await page.getByText(/Would run on/).waitFor();
      await page.getByRole("button", { name: "Submit", exact: true }).click();
      await page.getByRole("heading", { name: "1 job: not submitted" }).waitFor();
      await page.locator(".submit .panel li .status").getByText("not submitted").waitFor();
      const { jobs } = await service.get("/api/v1/jobs");
      assert.equal(jobs.length, 1);
      await page.locator(`.panel a[href="/jobs/${jobs[0].id}"]`).click();
      await page.waitForURL(/\/jobs\/\d+$/);
      await until("its end", async () =>
        /not submitted/.test(await page.locator(".verdict").innerText()),
      );
      await page.getByText("It was never queued: it has no log, and none will come.").waitFor();
      assert.equal(await page.getByRole("heading", { name: "Its log" }).count(), 0);
      assert.equal(await page.getByText("not answered yet").count(), 0);
    });
  });

  test("keeps what is filled in while the service does not answer, and says so", async () => {
    const url = `${service.url}/jobs?${kSubmission}`;
    await withPage(browser, url, {}, async (page, complaints) => {
      const field = page.getByLabel("token of the scope submit");
      await field.fill("half of a token");
      complaints.expect(/ERR_|Failed to load resource/);
      await page.route(/\/api\/v1\/status$/, (route) => route.abort("connectionrefused"));
      await page.getByRole("heading", { name: "No answer from llmb-report" }).waitFor();
      assert.equal(await field.inputValue(), "half of a token");
      await page.unroute(/\/api\/v1\/status$/);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator(".panel-problem").waitFor({ state: "detached" });
      assert.equal(await field.inputValue(), "half of a token");
    });
  });

  test("follows a job's log for who sees its end, and another start's from its own beginning", async () => {
    const log = { path: "/logs/first.out", text: "of the first start\n".repeat(300) };
    const [job] = (await service.get("/api/v1/jobs")).jobs;
    assert.ok(job, "the job that the test of submitting leaves");
    await withPage(browser, `${service.url}/health`, {}, async (page) => {
      await page.route(/\/api\/v1\/jobs\/\d+$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), state: "running" } });
      });
      await page.route(/\/api\/v1\/jobs\/\d+\/log\?/, async (route) => {
        const query = new URL(route.request().url()).searchParams;
        const offset = Math.min(Number(query.get("offset") ?? 0), log.text.length);
        const { length } = log.text;
        const of = { of: "run", path: log.path, size_bytes: length, job_has_ended: false };
        const json = { ...of, offset, text: log.text.slice(offset), next_offset: length };
        await route.fulfill({ json });
      });
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await page.locator(`main a[href="/jobs/${job.id}"]`).click();
      const box = page.getByLabel("The end of the log");
      const holds = (words) =>
        until(words, async () => (await box.innerText()).trimEnd().endsWith(words));
      const below = () =>
        box.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
      await holds("of the first start");
      await until("the end is in sight", async () => (await below()) < 2);
      await box.evaluate((one) => one.scrollTo(0, 0));
      log.text += "and it goes on";
      await holds("and it goes on");
      assert.equal(await box.evaluate((one) => one.scrollTop), 0, "the reader is elsewhere");
      log.path = "/logs/second.out";
      log.text = "of the second start\n".repeat(400);
      await holds("of the second start");
      assert.doesNotMatch(await box.innerText(), /first start/);
      await until("the end is in sight", async () => (await below()) < 2);
    });
  });

  test("keeps the other columns in sight beside a long error of Slurm", async () => {
    await withPage(browser, `${service.url}/health`, {}, async (page) => {
      await page.route(/\/api\/v1\/jobs(\?|$)/, async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        for (const job of body.jobs) job.trouble = "sbatch: error: no such partition; ".repeat(20);
        await route.fulfill({ response, json: body });
      });
      await page.getByRole("link", { name: "Jobs", exact: true }).click();
      await page.locator("td .why").getByText("no such partition").waitFor();
      const table = page.getByRole("region", { name: "Table: Jobs", exact: true });
      await until("every column is in sight", () =>
        table.evaluate((area) => area.scrollWidth === area.clientWidth),
      );
    });
  });
});
