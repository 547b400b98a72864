// What a newcomer with the sample tree asks, and finds from the home page in at most three clicks.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { cells, rows, setTime } from "./page.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

const kClicksMax = 3;

// Walks from the home page; every click counts.
async function ask(question, walk) {
  await withPage(browser, `${daemon.url}/`, {}, async (page) => {
    await page.locator("button.cell").first().waitFor();
    let clicks = 0;
    const click = async (place) => {
      clicks += 1;
      await place.click();
    };
    await walk(page, click);
    assert.ok(clicks <= kClicksMax, `${question} took ${clicks} clicks`);
  });
}

const nav = (page, name) =>
  page.getByLabel("Pages").getByRole("link", { name, exact: true });

describe("a newcomer finds out", () => {
  test("which run was slowest against its reference", async () => {
    const { runs } = await daemon.get("/api/v1/runs?sort=speed_against_reference&limit=1");
    await ask("the slowest run", async (page, click) => {
      await click(nav(page, "Runs"));
      await click(page.getByRole("button", { name: "Of published" }));
      const first = rows(page).first();
      await until(
        "the slowest run on top",
        async () => Number(await first.getAttribute("data-run")) === runs[0].id,
      );
      assert.match(await cells(page, "published").first().innerText(), /% slower/);
    });
  });

  test("why the failed runs failed", async () => {
    const { runs } = await daemon.get("/api/v1/runs?status=failed&limit=100");
    await ask("the failures", async (page, click) => {
      await click(nav(page, "Runs"));
      await rows(page).first().waitFor();
      await click(page.locator("details.field-list summary").filter({ hasText: "status" }));
      await click(page.getByLabel("failed", { exact: true }));
      await until("the failed ones", async () => (await rows(page).count()) === runs.length);
      for (const text of await cells(page, "status").allInnerTexts()) {
        assert.ok(text.replace("failed", "").trim().length > 3, `a cause in '${text}'`);
      }
    });
  });

  test("whether two Nemotron configurations really differ", async () => {
    await ask("the difference", async (page, click) => {
      const row = page.locator(".board-row").filter({ hasText: "nemotron4 15b bf16" });
      await click(row.locator("button.cell").filter({ hasText: /\b128 GPUs/ }));
      await click(page.getByRole("link", { name: "Compare them with those that differ" }));
      const verdict = page.locator(".verdicts .told").first();
      await verdict.waitFor();
      assert.match(await verdict.innerText(), /(1\.[89]|2\.[01])\d? % (slower|faster)/);
      const verdicts = page.locator(".verdicts");
      await verdicts.getByText(/^95 % interval: .* % to .* % (slower|faster)\.$/).first().waitFor();
      await page.getByText(/NCCL.P2P.NET.CHUNKSIZE/).first().waitFor();
    });
  });

  test("how Grok-1 scales from 128 to 512 GPUs", async () => {
    await ask("the scaling", async (page, click) => {
      await click(nav(page, "Scaling"));
      const series = page.locator("section.charts").filter({ hasText: /grok1 .*fp8.*gb200/ });
      await series.first().waitFor();
      const gpus = await series.first().locator("tbody th").allInnerTexts();
      assert.deepEqual(gpus, ["128", "256", "512"]);
      assert.match(await series.first().locator("tbody tr").last().innerText(), /\d %/);
    });
  });

  test("whether anything got slower this month, and with what", async () => {
    const { series } = await daemon.get("/api/v1/history");
    const [slowed] = series.filter(({ changes }) => changes.at(-1)?.verdict === "slower");
    const change = slowed.changes.at(-1);
    const since = new Date(slowed.runs[change.at].launched_at);
    await ask("the regression", async (page, click) => {
      await setTime(page, since.getTime() + 20 * 86_400_000);
      await click(nav(page, "History"));
      await page.getByRole("heading", { name: /^Slower in the last 30 days: 1 of/ }).waitFor();
      const told = page.locator(".history-told li").filter({ hasText: "slower" });
      assert.equal(await told.count(), 1);
      const amount = `${(100 * (change.step_time_ratio - 1)).toFixed(1)} % slower`;
      assert.ok((await told.innerText()).includes(amount), amount);
      for (const { after } of change.differences) {
        assert.ok((await told.innerText()).includes(after ?? "not stated"));
      }
      await click(told.getByRole("link"));
      await page.locator("section.history .change-slower").first().waitFor();
    });
  });

  test("which published figures do not follow", async () => {
    await ask("the findings", async (page, click) => {
      await click(nav(page, "References"));
      await page.getByText(/\d+ figures do not follow/).waitFor();
      const found = page.locator("td.found summary").first();
      await click(found);
      await page.locator("td.found details[open]").getByText(/\d/).first().waitFor();
    });
  });

  test("what to submit next", async () => {
    await ask("the next command", async (page, click) => {
      await click(page.locator("button.state-count.cell-failed"));
      await click(page.locator("button.cell").first());
      const command = await page.locator("pre.command").innerText();
      assert.match(command, /^llmb-report submit -w pretrain_\S+ -s \S+ --dtype \S+ .*-r \d+/);
    });
  });
});
