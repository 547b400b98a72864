// What users and programs take along: a run's log as a file, and the notebook of the examples, from
// the real daemon.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { downloadBy } from "./page.mjs";
import { daemon, findRun, traced } from "./site.mjs";
import { browser } from "./started_browser.mjs";

const kNotebook = fileURLToPath(
  new URL("../../deploy/examples/results.ipynb", import.meta.url),
);
const kDashboard = fileURLToPath(
  new URL("../../deploy/examples/grafana-dashboard.json", import.meta.url),
);
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("the log of a run", () => {
  test("is downloaded as it stands, under its own name", async () => {
    const run = await findRun(`experiment=${traced.experiment}`);
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page) => {
      const link = page.getByRole("link", { name: "Download the log" });
      const file = await downloadBy(page, () => link.click());
      assert.equal(file.suggestedFilename(), path.basename(traced.file));
      assert.ok(readFileSync(await file.path()).equals(readFileSync(traced.file)));
    });
  });

  test("that is gone is no file: the page says why", async () => {
    const log = new NemoLog(daemon.tree, { gpus: 928, jobId: 60015, launchedAt: 1700000003 });
    log.growTo(49);
    const run = await until("the log is read", async () => {
      const { runs } = await daemon.get(`/api/v1/runs?experiment=${log.experiment}`);
      return runs[0];
    });
    await withPage(browser, `${daemon.url}/runs/${run.id}`, {}, async (page, complaints) => {
      complaints.expect(/log\?offset=0.* 404|status of 404/);
      const link = page.getByRole("link", { name: "Download the log" });
      await link.waitFor();
      rmSync(log.file);
      await link.click();
      await page.locator("#run-log").getByText("The log is gone").waitFor();
    });
  });
});

describe("the examples", () => {
  const skip = hasPython ? false : "there is no python3";
  test("run as they stand: the notebook of results", { skip }, async () => {
    const { cells } = JSON.parse(readFileSync(kNotebook, "utf8"));
    const program = cells
      .filter((cell) => cell.cell_type === "code")
      .map((cell) => cell.source.join(""))
      .join("\n");
    const env = { ...process.env, LLMB_REPORT_URL: daemon.url };
    const run = spawnSync("python3", ["-c", program], { env, encoding: "utf8", timeout: 300_000 });
    assert.equal(run.status, 0, run.stderr);
    const query = "status=complete&mark=none&sort=speed_against_reference&limit=1";
    const { runs } = await daemon.get(`/api/v1/runs?${query}`);
    assert.ok(run.stdout.includes(runs[0].experiment), run.stdout);
    assert.match(run.stdout, /steps, median/);
    assert.match(run.stdout, /cuda_oom|time_limit/);
  });

  test("ask for metrics that there are: the Grafana dashboard", async () => {
    const text = await (await fetch(`${daemon.url}/metrics`)).text();
    const families = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)];
    const names = new Set(
      families.map(([, name, type]) => (type === "counter" ? `${name}_total` : name)),
    );
    const { panels } = JSON.parse(readFileSync(kDashboard, "utf8"));
    const asked = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => expr.match(/llmb_\w+/g)),
    );
    assert.ok(asked.length > 8);
    for (const name of asked) assert.ok(names.has(name), `${name} is no metric`);
    assert.match(text, /^llmb_result_step_time_seconds\{workload="pretrain_grok1",/m);
  });
});
