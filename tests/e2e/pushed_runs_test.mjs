// A central server's pages: the runs that an agent on another cluster pushed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { rows } from "./page.mjs";
import { browser } from "./started_browser.mjs";

describe("a central server", () => {
  let central;
  before(async () => {
    central = await Daemon.make();
    await central.start(["--receive"]);
    push("eos", 40001);
    push("selene", 40002, ["--push-logs"]);
  });
  after(() => central?.remove());

  const treeOf = (cluster) => path.join(central.folder, cluster);

  // One complete run, by an agent of the cluster.
  function push(cluster, jobId, more = []) {
    new NemoLog(treeOf(cluster), { gpus: 512, jobId }).growTo(49);
    const file = path.join(central.folder, `${cluster}.token`);
    const about = ["--scope", "ingest", "--for-cluster", cluster, "--db", central.database];
    writeFileSync(file, central.makeToken(cluster, about));
    const words = ["ingest", "--once", "--db", path.join(central.folder, `${cluster}.db`)];
    words.push("--gpu-type", "h100", "--push", central.url, "--token-file", file);
    words.push("--cluster", cluster, treeOf(cluster));
    words.push(...more);
    const pushed = spawnSync(process.env.LLMB_REPORT_BIN, words, { encoding: "utf8" });
    assert.equal(pushed.status, 0, pushed.stderr);
  }

  test("says who pushes, how far they are, and what they watch", async () => {
    await withPage(browser, `${central.url}/health`, {}, async (page) => {
      const agent = page.getByRole("region", { name: "Table: Agents that push runs here" });
      await agent.getByText("has pushed all").nth(1).waitFor();
      const first = agent.locator("tbody tr").first();
      const [cluster, , tree] = await first.locator("th, td").allInnerTexts();
      assert.deepEqual([cluster, tree.trim()], ["eos", treeOf("eos")]);
      assert.equal(await page.getByRole("heading", { name: "Watched trees" }).count(), 0);
    });
  });

  test("filters runs by the cluster that they came from", async () => {
    await withPage(browser, `${central.url}/runs`, {}, async (page) => {
      await page.locator("summary", { hasText: "cluster" }).click();
      await page.getByLabel("eos", { exact: true }).check();
      await page.waitForURL(/cluster=eos/);
      await until("the one run", async () => (await rows(page).count()) === 1);
      await page.goto(`${central.url}/runs?cluster=other`);
      await page.getByRole("heading", { name: "No run matches" }).waitFor();
    });
  });

  test("shows what each of several clusters has, by one question", async () => {
    const asked = [];
    await withPage(browser, `${central.url}/runs`, {}, async (page) => {
      page.on("request", (request) => request.url().includes("/scaling") && asked.push(request.url()));
      await page.goto(`${central.url}/?workload=grok1`);
      for (const cluster of ["eos", "selene"]) {
        const row = page.locator(".board-row").filter({ hasText: cluster });
        await row.locator("button.cell").filter({ hasText: "512 GPUs" }).first().waitFor();
      }
      await page.getByText("how each of 2 clusters stands").waitFor();
      assert.equal(new Set(asked).size, 1, asked.join(" "));
      assert.ok(asked.length <= 2, "once more where the event stream was opened late");
    });
  });

  test("shows the board, scaling and history of one cluster", async () => {
    for (const name of ["", "scaling", "history"]) {
      await withPage(browser, `${central.url}/${name}`, {}, async (page) => {
        const choice = page.locator("label", { hasText: "cluster" }).locator("select");
        const resource = name === "history" ? "history" : "scaling";
        const [answer] = await Promise.all([
          page.waitForResponse(new RegExp(`/${resource}\\?cluster=selene`)),
          choice.selectOption("selene"),
        ]);
        const runs = (await answer.text()).match(/"id":\d+/g);
        assert.deepEqual([...new Set(runs)], ['"id":2']);
        await page.waitForURL(/cluster=selene/);
        const offered = await choice.locator("option").allTextContents();
        assert.deepEqual(offered, ["all", "eos", "selene"]);
      });
    }
  });

  test("shows a pushed run, and says where its log is", async () => {
    const { runs } = await central.get("/api/v1/runs?cluster=eos");
    assert.deepEqual(
      runs.map(({ status, cluster }) => [status, cluster]),
      [["complete", "eos"]],
    );
    const url = `${central.url}/runs/${runs[0].id}`;
    await withPage(browser, url, {}, async (page, complaints) => {
      await page.locator(".plot canvas").first().waitFor();
      const fact = page.locator(".run-head .facts > div").filter({ hasText: /^Cluster/ });
      assert.equal(await fact.locator("dd").innerText(), "eos");
      await page.goto(`${url}?log=0`);
      await page.getByText(/it stays on its cluster, 'eos'/).waitFor();
      complaints.expect(/\/log|status of 404/);
    });
  });

  test("shows the lines of a log whose text was sent along", async () => {
    const { runs } = await central.get("/api/v1/runs?cluster=selene");
    const { byte_offset: offsets } = await central.get(`/api/v1/runs/${runs[0].id}/steps`);
    const url = `${central.url}/runs/${runs[0].id}?log=${offsets[20]}`;
    await withPage(browser, url, {}, async (page) => {
      const chosen = page.locator(".log-lines .is-chosen");
      await chosen.getByText(/iteration 20\b/).waitFor();
      assert.ok((await page.locator(".log-lines li").count()) > 20, "with its neighbours");
    });
  });
});
