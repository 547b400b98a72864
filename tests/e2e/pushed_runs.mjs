// A central server's pages: the runs that an agent on another cluster pushed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { browser } from "./site.mjs";

describe("a central server", () => {
  let central;
  before(async () => {
    central = await Daemon.make();
    await central.start(["--receive"]);
    new NemoLog(central.tree, { gpus: 512 }).growTo(49);
    const file = path.join(central.folder, "token");
    const database = ["--db", central.database];
    writeFileSync(
      file,
      central.makeToken("eos", ["--scope", "ingest", "--for-cluster", "eos", ...database]),
    );
    const words = ["ingest", "--once", "--db", path.join(central.folder, "agent.db")];
    words.push("--push", central.url, "--token-file", file, "--cluster", "eos", central.tree);
    const pushed = spawnSync(process.env.LLMB_REPORT_BIN, words, { encoding: "utf8" });
    assert.equal(pushed.status, 0, pushed.stderr);
  });
  after(() => central?.remove());

  test("says who pushes, how far they are, and what they watch", async () => {
    await withPage(browser, `${central.url}/health`, {}, async (page) => {
      const agent = page.getByRole("region", { name: "Table: Agents that push runs here" });
      await agent.getByText("has pushed all").waitFor();
      const [cluster, , tree] = await agent.locator("tbody tr").locator("th, td").allInnerTexts();
      assert.deepEqual([cluster, tree.trim()], ["eos", central.tree]);
      assert.equal(await page.getByRole("heading", { name: "Watched trees" }).count(), 0);
    });
  });

  test("filters runs by the cluster that they came from", async () => {
    await withPage(browser, `${central.url}/runs`, {}, async (page) => {
      await page.locator("summary", { hasText: "cluster" }).click();
      await page.getByLabel("eos", { exact: true }).check();
      await page.waitForURL(/cluster=eos/);
      await page.getByRole("link", { name: /^pretrain_grok1/ }).waitFor();
      await page.goto(`${central.url}/runs?cluster=other`);
      await page.getByRole("heading", { name: "No run matches" }).waitFor();
    });
  });

  test("shows a pushed run, and says where its log is", async () => {
    const { runs } = await central.get("/api/v1/runs");
    assert.deepEqual(
      runs.map(({ status, cluster }) => [status, cluster]),
      [["complete", "eos"]],
    );
    const url = `${central.url}/runs/${runs[0].id}`;
    await withPage(browser, url, {}, async (page, complaints) => {
      await page.locator(".plot canvas").first().waitFor();
      await page.goto(`${url}?log=0`);
      await page.getByText(/it stays on its cluster, 'eos'/).waitFor();
      complaints.expect(/\/log|status of 404/);
    });
  });
});
