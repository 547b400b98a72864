// References with their audit, jobs where there are none, and the health of the service.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

describe("the references", () => {
  test("say how many published figures do not follow", async () => {
    const { findings, figures_checked: checked } = await daemon.get("/api/v1/references/audit");
    const errors = findings.filter(({ severity }) => severity === "error").length;
    await withPage(browser, `${daemon.url}/references`, {}, async (page) => {
      const lead = page.locator(".lead");
      await lead.waitFor();
      const text = (await lead.innerText()).replaceAll(",", "");
      assert.ok(text.includes(`${checked} figures`), text);
      assert.ok(text.includes(`${errors} figures do not follow`), text);
    });
  });

  test("have the finding at its cell, with what it comes to", async () => {
    const url = `${daemon.url}/references?document=grok1-25.05&findings=only`;
    const { findings } = await daemon.get("/api/v1/references/audit?document=grok1-25.05");
    const finding = findings.find(({ quantity, column }) => quantity === "tokens_per_s" && column);
    await withPage(browser, url, {}, async (page) => {
      const found = page.locator("td.found summary").filter({ hasText: finding.printed }).first();
      await found.click();
      const told = page.locator("td.found details[open]");
      await told.getByText(finding.explanation).waitFor();
    });
  });

  test("show every finding once, whatever it is about", async () => {
    const { findings } = await daemon.get("/api/v1/references/audit");
    await withPage(browser, `${daemon.url}/references?findings=only`, {}, async (page) => {
      await page.locator("td.found").first().waitFor();
      const atCells = await page.locator("td.found details p").count();
      const inText = await page.locator(".findings > li").count();
      assert.equal(atCells + inText, findings.length);
    });
  });
});

describe("jobs and health", () => {
  test("say that jobs are off, and how to turn them on", async () => {
    await withPage(browser, `${daemon.url}/jobs`, {}, async (page) => {
      await page.getByRole("heading", { name: "Jobs are off" }).waitFor();
      await page.getByText("workload_folder").waitFor();
    });
  });

  test("show the jobs that the logs name, each start of one that was requeued", async () => {
    const { runs } = await daemon.get("/api/v1/runs?job_id=410077");
    const [failed, whole] = runs.sort((a, b) => a.retry - b.retry);
    assert.deepEqual([failed.failure_cause, whole.status], ["node_failure", "complete"]);
    await withPage(browser, `${daemon.url}/jobs`, {}, async (page) => {
      const table = page.getByRole("region", { name: "Table: Jobs that the logs name" });
      const row = table.locator("tbody tr").filter({ hasText: "410077" });
      await row.getByText("complete", { exact: true }).waitFor();
      assert.match(
        await row.locator("td").last().innerText(),
        new RegExp(`^run ${failed.id} \\(node failure\\), run ${whole.id}$`),
      );
      await row.getByRole("link").last().click();
      await page.waitForURL(new RegExp(`/runs/${whole.id}$`));
    });
  });

  test("say so where there is no such job", async () => {
    await withPage(browser, `${daemon.url}/jobs/7`, {}, async (page, complaints) => {
      await page.locator(".panel-problem").waitFor();
      await page.getByRole("heading", { name: "Job 7", level: 1 }).waitFor();
      complaints.expect(/jobs\/7|status of 501/);
    });
  });

  test("name every root with what it answers, and the version", async () => {
    const { version } = await daemon.get("/api/v1/status");
    await withPage(browser, `${daemon.url}/health`, {}, async (page) => {
      await page.getByText("all is well", { exact: true }).waitFor();
      await page.getByText(daemon.tree, { exact: true }).waitFor();
      await page.getByText(version, { exact: true }).first().waitFor();
      await page.getByText("every log that was found can be read").waitFor();
    });
  });
});

describe("everywhere", () => {
  test("times are local or UTC, as the reader chooses, and stay so", async () => {
    const options = { timezoneId: "Asia/Tokyo" };
    const { runs } = await daemon.get("/api/v1/runs?limit=1&q=gpus384");
    const at = new Date(runs[0].launched_at);
    const utc = at.toISOString().slice(0, 16).replace("T", " ");
    const tokyo = new Date(at.getTime() + 9 * 3_600_000)
      .toISOString()
      .slice(0, 16)
      .replace("T", " ");
    await withPage(browser, `${daemon.url}/runs/${runs[0].id}`, options, async (page) => {
      await page.getByText(tokyo, { exact: true }).waitFor();
      await page.getByRole("button", { name: "local time" }).click();
      await page.getByText(utc, { exact: true }).waitFor();
      await page.reload();
      await page.getByText(utc, { exact: true }).waitFor();
    });
  });

  test("an address that is none leads on", async () => {
    await withPage(browser, `${daemon.url}/nosuchpage`, {}, async (page) => {
      await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
      await page.getByRole("link", { name: "See all runs" }).click();
      await page.waitForURL(/\/runs$/);
    });
  });

  test("the pages are reached from each other", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      for (const title of ["Runs", "Scaling", "History", "Failures", "References", "Jobs", "Health", "Board"]) {
        await page.getByRole("link", { name: title, exact: true }).click();
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        await until(
          "the page is marked as the current one",
          async () => (await page.locator('.pages [aria-current="page"]').innerText()) === title,
        );
      }
    });
  });
});

describe("an address that asks for what there is not", () => {
  for (const [address, complaint, wayBack] of [
    ["/references?document=old", "No document is called 'old'", "/references"],
    ["/scaling?workload=typo", "No series is of the workload 'typo'", "/scaling"],
    ["/scaling?cluster=typo", "No cluster is called 'typo'", "/scaling"],
    ["/history?cluster=typo", "No cluster is called 'typo'", "/history"],
    ["/history?days=14", "There is no choice of days '14'", "/history"],
    ["/?cluster=typo&gpu_type=gb200", "No cluster is called 'typo'", "/?gpu_type=gb200"],
  ]) {
    test(`is told so: ${address}`, async () => {
      await withPage(browser, daemon.url + address, {}, async (page) => {
        const panel = page.locator(".panel").filter({ hasText: complaint });
        await panel.getByRole("link", { name: /^Show/ }).click();
        await panel.waitFor({ state: "detached" });
        assert.equal(page.url(), daemon.url + wayBack);
      });
    });
  }
});
