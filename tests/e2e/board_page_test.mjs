// The board: every published result, what meets the aim, and the way to its runs and commands.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { fits, scrolledTo, setTime, settled } from "./page.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

const cell = (page, words) => page.locator("button.cell").filter({ hasText: words });

async function pointAt(dtype, gpuCount) {
  const { series } = await daemon.get("/api/v1/scaling"); // as the board asks: all teach the noise
  const found = series
    .filter((each) => each.workload === "pretrain_grok1" && each.model_size === "314b")
    .filter((each) => each.dtype === dtype && each.gpu_type === "gb200")
    .flatMap((each) => each.points)
    .find((point) => point.gpu_count === gpuCount);
  assert.ok(found, `grok1 ${dtype} at ${gpuCount}`);
  return found;
}

describe("the board", () => {
  test("is the home page, and shows a published result whose aim is met", async () => {
    const point = await pointAt("bf16", 256);
    assert.ok(point.published_standing.speed_low >= 0.95);
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await page.getByRole("heading", { name: "Board" }).waitFor();
      const row = page.locator(".board-row").filter({ hasText: "grok1 314b bf16" });
      const met = row
        .locator("button.cell")
        .filter({ hasText: "aim met" })
        .filter({ hasText: "256 GPUs" });
      await met.waitFor();
      const { speed } = point.published_standing;
      assert.match(await met.innerText(), new RegExp(speed.toFixed(3).slice(0, 4)));
    });
  });

  test("counts its cells, and filters by state in the URL", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      const failed = page.getByRole("button", { name: /failed no complete run, and the newest failed/ });
      await failed.waitFor();
      const count = Number((await failed.locator("b").innerText()).replaceAll(",", ""));
      assert.ok(count > 0);
      await failed.click();
      await page.waitForURL(/state=failed/);
      await until(
        "only failed cells",
        async () => (await page.locator("button.cell").count()) === count,
      );
      await page.getByLabel("GPU type").selectOption("gb200");
      await page.waitForURL(/gpu_type=gb200/);
    });
  });

  test("is stepped back from a choice, and from a cell however many were opened", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await page.locator("button.cell").first().waitFor();
      for (const gpuType of ["h100", "gb200"]) {
        await page.getByLabel("GPU type").selectOption(gpuType);
        await page.waitForURL(new RegExp(`gpu_type=${gpuType}`));
      }
      const cells = page.locator("button.cell");
      for (const at of [0, 1, 1, 0]) await cells.nth(at).click();
      await page.waitForURL(/cell=/);
      await page.goBack();
      await until("no cell", async () => !page.url().includes("cell="));
      assert.match(page.url(), /gpu_type=gb200/);
      await page.goBack();
      await page.waitForURL(/gpu_type=h100/);
    });
  });

  test("is stepped back to where it was left, and reloaded there", async () => {
    const size = { viewport: { width: 1440, height: 500 } };
    await withPage(browser, `${daemon.url}/`, size, async (page) => {
      await page.locator("button.cell").last().waitFor();
      await page.evaluate(() => scrollTo(0, 700));
      await page.evaluate(() => document.querySelector('nav a[href="/health"]').click());
      await page.locator(".facts").first().waitFor();
      await scrolledTo(page, 0);
      await page.goBack();
      await page.locator("button.cell").last().waitFor();
      await scrolledTo(page, 700);
      await page.goForward();
      await page.locator(".facts").first().waitFor();
      await scrolledTo(page, 0);
      await page.goBack();
      await scrolledTo(page, 700);
      await page.reload();
      await page.locator("button.cell").last().waitFor();
      await scrolledTo(page, 700);
    });
  });

  test("names each row, and each cell whole", async () => {
    await withPage(browser, `${daemon.url}/?gpu_type=gb200`, {}, async (page) => {
      const row = page.getByRole("heading", { name: "grok1 314b bf16 gb200", level: 2, exact: true });
      await row.waitFor();
      await page.getByRole("list", { name: "grok1 314b bf16 gb200", exact: true }).waitFor();
      await page
        .getByRole("button", { name: /^grok1 314b bf16, 256 GPUs gb200, aim met/ })
        .first()
        .waitFor();
    });
  });

  test("says on paper where and when it was so", async () => {
    await withPage(browser, `${daemon.url}/`, {}, async (page) => {
      await page.locator("button.cell").first().waitFor();
      const note = page.locator(".on-paper").filter({ hasText: new URL(daemon.url).host });
      assert.equal(await note.isVisible(), false);
      await page.emulateMedia({ media: "print" });
      assert.equal(await note.isVisible(), true);
      assert.match(await note.innerText(), /\d\d:\d\d/);
    });
  });

  test("opens a cell: its runs, and the command that would fill it", async () => {
    const point = await pointAt("fp8", 128);
    await withPage(browser, `${daemon.url}/?workload=grok1&gpu_type=gb200`, {}, async (page) => {
      const one = cell(page, "aim met").filter({ hasText: "128 GPUs" });
      await one.click();
      await page.waitForURL(/cell=/);
      const opened = page.locator(".open-cell");
      await opened.getByRole("link", { name: `run ${point.runs[0].id}`, exact: true }).waitFor();
      const low = point.published_standing.speed_low.toFixed(4);
      await opened.getByText(`above ${low} × with 95 % confidence, which meets the aim of 0.95 ×.`).waitFor();
      const command = await opened.locator("pre.command").innerText();
      assert.equal(
        command.trim(),
        "llmb-report submit -w pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 128 -r 1",
      );
      await page.reload();
      await opened.waitFor();
      await page.keyboard.press("Escape");
      await opened.waitFor({ state: "detached" });
      assert.equal(new URL(page.url()).searchParams.has("cell"), false);
      await page.keyboard.press("Enter"); // the cell has the focus
      await opened.getByRole("link", { name: `run ${point.runs[0].id}`, exact: true }).click();
      await page.waitForURL(new RegExp(`/runs/${point.runs[0].id}$`));
    });
  });

  test("tells a result that no run can be held against from one that lacks runs", async () => {
    await withPage(browser, `${daemon.url}/?state=unjudged`, {}, async (page) => {
      const one = page.locator("button.cell").first();
      await one.click();
      const opened = page.locator(".open-cell");
      await opened.getByText(/^No run can be held against it/).waitFor();
      assert.equal(await opened.locator("pre.command").count(), 0);
    });
  });

  test("knows a workload by each of its names", async () => {
    await withPage(browser, `${daemon.url}/?workload=pretrain_grok1`, {}, async (page) => {
      await page.locator("button.cell").first().waitFor();
      for (const name of await page.locator(".board-name b").allInnerTexts()) {
        assert.match(name, /^grok1 /);
      }
      const options = page.getByRole("combobox", { name: "workload" }).locator("option");
      const names = await options.allInnerTexts();
      assert.equal(new Set(names).size, names.length);
    });
    await withPage(browser, `${daemon.url}/?workload=nothing`, {}, async (page) => {
      await page.getByRole("heading", { name: "No published result matches" }).waitFor();
      await page.getByRole("link", { name: "Show every result" }).click();
      await page.locator("button.cell").first().waitFor();
    });
  });

  test("copies itself as Markdown and CSV", async () => {
    const options = { permissions: ["clipboard-read", "clipboard-write"] };
    await withPage(browser, `${daemon.url}/?gpu_type=gb200`, options, async (page) => {
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000); // the page's time, until it is told to run on
      await page.getByRole("button", { name: "Copy as Markdown" }).click();
      const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
      await until("Markdown", async () =>
        /^\| workload \| GPU type \| GPUs \|/.test(await clipboard()),
      );
      const told = page.getByRole("status").filter({ hasText: "copied" });
      await told.waitFor();
      await page.clock.runFor(10_000);
      await told.waitFor({ state: "detached" }); // it is not said for ever
      const markdown = await clipboard();
      assert.match(markdown, /\| grok1 314b bf16 \| gb200 \| 256 \|/);
      assert.match(markdown, /\| whether the published speed is reached \|/);
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      await until("the CSV", async () => (await clipboard()).startsWith("workload,"));
    });
  });

  test("has a view of what certifies the cluster, until when, and what is left to run", async () => {
    const options = { permissions: ["clipboard-read", "clipboard-write"] };
    const { runs } = await daemon.get(
      "/api/v1/runs?workload=pretrain_grok1&gpu_type=gb200&gpu_count=512&dtype=fp8&status=complete",
    );
    assert.equal(runs.length, 2);
    await withPage(browser, `${daemon.url}/?gpu_type=gb200`, options, async (page) => {
      await setTime(page, Date.parse(runs[0].launched_at) + 30 * 86_400_000);
      await page.getByRole("link", { name: "Certification" }).click();
      await page.waitForURL(/view=certification/);
      const suite = page.getByRole("region", { name: "Certification of gb200", exact: true });
      await suite.getByText(/^0 of \d+ workloads certified, \d+ cannot be judged here$/).waitFor();
      assert.equal(await page.locator("section.suite").count(), 1);
      const row = suite.locator("tbody tr").filter({ hasText: "grok1 314b fp8" });
      await row.getByText("1 more run for the 3 that it takes").waitFor();
      assert.equal(await row.getByRole("link").count(), 2);
      await suite.getByText(/commands? that would complete it/).click();
      assert.match(
        await suite.locator("pre.command").innerText(),
        /pretrain_grok1 -s 314b --dtype fp8 --gpu-type gb200 --scale 512 -r 1$/m,
      );
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      await until("the CSV", async () =>
        (await page.evaluate(() => navigator.clipboard.readText())).startsWith("GPU type,workload,"),
      );
      await setTime(page, Date.parse(runs[0].launched_at) + 400 * 86_400_000);
      await page.reload();
      await row.getByText(/^The aim is met. Its newest 2 runs are all older than 12 months/).waitFor();
      await page.getByRole("link", { name: "Results" }).click();
      await page.locator("button.cell").first().waitFor();
    });
  });

  test("shows a certification's sentences whole on a phone", async () => {
    const options = { viewport: { width: 390, height: 844 } };
    await withPage(browser, `${daemon.url}/?view=certification`, options, async (page) => {
      const sentence = page.locator(".suite-state .sub").first();
      await sentence.waitFor();
      const box = await settled(page, () => sentence.boundingBox());
      assert.ok(box.x + box.width <= 390 - 16, `it ends at ${box.x + box.width}`);
    });
  });

  test("shows on a phone the states that there are, and the first result below them", async () => {
    const options = { viewport: { width: 390, height: 844 } };
    await withPage(browser, `${daemon.url}/`, options, async (page) => {
      await page.locator("button.cell").first().waitFor();
      const counts = await page.locator(".state-count:visible b").allInnerTexts();
      assert.ok(counts.length > 0 && !counts.includes("0"), counts.join());
      await page.goto(`${daemon.url}/?state=invalid`); // of none: its choice can be taken back
      await page.locator('.state-count[aria-pressed="true"]:visible').waitFor();
    });
  });

  test("leads links of the former home page to the runs", async () => {
    await withPage(browser, `${daemon.url}/?status=failed`, {}, async (page) => {
      await page.waitForURL(/\/runs\?status=failed/);
      await page.getByRole("heading", { name: "Runs" }).waitFor();
    });
  });

  for (const width of [360, 1280, 2560]) {
    test(`fits ${width} px`, async () => {
      const options = { viewport: { width, height: 900 } };
      await withPage(browser, `${daemon.url}/`, options, async (page) => {
        await page.locator("button.cell").first().waitFor();
        await fits(page);
        const beyond = await settled(page, () =>
          page.locator("button.cell").evaluateAll((all) =>
            all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText),
          ),
        );
        assert.deepEqual(beyond, [], "words that leave their cell");
      });
    });
  }
});
