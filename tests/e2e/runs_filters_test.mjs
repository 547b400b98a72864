// The filters of the table of runs: fields, those behind a button, and those of the address.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { cells, hasFocus, rows, settled } from "./page.mjs";
import { choose, more, seldom, untilShown } from "./runs_list.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

// The list of a filter, opened.
async function opened(page, filter) {
  const list = page
    .locator("details.field-list")
    .filter({ has: page.locator("legend", { hasText: new RegExp(`^${filter}$`) }) });
  await list.locator("summary").click();
  return list;
}

describe("the filters of runs", () => {
  test("filters by status, in the URL, and back undoes it", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await choose(page, "status", "failed");
      await page.waitForURL(/status=failed/);
      const { total } = await daemon.get("/api/v1/runs?status=failed&limit=1");
      assert.ok(total > 0, "the sample tree holds failures");
      await until("only failed runs", async () => (await rows(page).count()) === total);
      for (const text of await cells(page, "status").allInnerTexts()) assert.match(text, /failed/);
      await page.reload();
      await until("the same after a reload", async () => (await rows(page).count()) === total);
      await page.goBack();
      await until("all runs again", async () => (await rows(page).count()) > total);
    });
  });

  test("finds all that ended badly by one choice, and by the link of each such run", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await choose(page, "status", "ended badly");
      await page.waitForURL(/status=ended_badly/);
      await untilShown(page, daemon, "status=ended_badly");
      for (const text of await cells(page, "status").allInnerTexts()) {
        assert.match(text, /failed|incomplete|invalid|no data|hung/);
      }
      const { runs } = await daemon.get("/api/v1/runs?status=failed&limit=1");
      await page.goto(`${daemon.url}/runs/${runs[0].id}`);
      await page.getByRole("link", { name: "runs like it that ended badly" }).click();
      await page.waitForURL(/\/runs\?status=ended_badly&workload=/);
      await page.locator(`table.runs tr[data-run="${runs[0].id}"]`).waitFor();
    });
  });

  test("filters by several values, by marks and by figures", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await choose(page, "status", "failed");
      await choose(page, "status", "complete");
      await page.waitForURL(/status=failed&status=complete/);
      await untilShown(page, daemon, "status=failed&status=complete");
      await page.getByRole("button", { name: "Clear filters" }).click();
      await choose(page, "marks", "traced");
      await page.waitForURL(/mark=traced/);
      await untilShown(page, daemon, "mark=traced");
      assert.equal(await page.locator(".col-experiment .mark").first().innerText(), "traced");
      await page.getByRole("button", { name: "Clear filters" }).click();
      await more(page).click();
      await page.locator("details.field-list summary").filter({ hasText: "figures" }).click();
      const field = page.getByLabel("speed against published, at most, %");
      await field.fill("98");
      await field.press("Tab");
      await page.waitForURL(/speed_against_reference_at_most=0.98/);
      await untilShown(page, daemon, "speed_against_reference_at_most=0.98");
      await page.reload();
      await untilShown(page, daemon, "speed_against_reference_at_most=0.98");
    });
  });

  test("filters by model size, GPUs and release, the seldom ones behind a button", async () => {
    const [known] = (await daemon.get("/api/v1/runs?limit=500")).runs.filter(
      (run) => run.model_size && run.gpu_count && run.release,
    );
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await choose(page, "model size", known.model_size);
      await untilShown(page, daemon, `model_size=${known.model_size}`);
      assert.equal(await seldom(page).count(), 0);
      await more(page).focus();
      await page.keyboard.press("Enter");
      await choose(page, "GPUs", known.gpu_count.toLocaleString("en-US"));
      await page.waitForURL(new RegExp(`gpu_count=${known.gpu_count}`));
      await choose(page, "release", known.release);
      const query =
        `model_size=${known.model_size}&gpu_count=${known.gpu_count}&release=${known.release}`;
      await page.waitForURL((url) => url.search === `?${query}`);
      await untilShown(page, daemon, query);
      await more(page).click();
      assert.match(await more(page).innerText(), /\(2 set\)/);
      await page.reload();
      await seldom(page).waitFor(); // one of them is set
      await untilShown(page, daemon, query);
    });
  });

  test("filters by the days of launches, in the zone that it shows", async () => {
    const zones = { UTC: ["", ""], "America/New_York": ["T05:00:00Z", "T05:00:00Z"] };
    for (const [timezoneId, [since, before]] of Object.entries(zones)) {
      await withPage(browser, `${daemon.url}/runs`, { timezoneId }, async (page) => {
        await rows(page).first().waitFor();
        await more(page).click();
        const launched = page.locator("details.field-list summary").filter({ hasText: "launched" });
        await launched.click();
        await page.getByLabel("first day").fill("2023-11-14"); // of the runs of kManyGpus
        await page.getByLabel("last day").fill("2023-11-14");
        const query =
          `since=${encodeURIComponent(`2023-11-14${since}`)}&` +
          `before=${encodeURIComponent(`2023-11-15${before}`)}`;
        await page.waitForURL((url) => url.search === `?${query}`);
        await untilShown(page, daemon, query);
        await page.reload();
        await untilShown(page, daemon, query);
        assert.match(await launched.innerText(), /2023-11-14$/);
        await launched.click();
        assert.equal(await page.getByLabel("first day").inputValue(), "2023-11-14");
        assert.equal(await page.getByLabel("last day").inputValue(), "2023-11-14");
        await page.getByRole("button", { name: "Any day" }).click();
        await page.waitForURL((url) => url.search === "");
      });
    }
  });

  test("filters by all that its address asks for, and tells what it does not know", async () => {
    const { runs } = await daemon.get("/api/v1/runs?limit=1");
    const { job_id: job, root_id: root } = runs[0];
    const asked = `job_id=${job}&root_id=${root}&include_superseded=true`;
    await withPage(browser, `${daemon.url}/runs?${asked}&xyz=1`, {}, async (page) => {
      await untilShown(page, daemon, asked);
      assert.match(await page.getByRole("alert").innerText(), /^The address asks for 'xyz', which/);
      const chips = page.getByRole("list", { name: "filters of the address" });
      assert.equal(await chips.getByRole("listitem").count(), 3);
      const href = await page.getByRole("link", { name: "CSV", exact: true }).getAttribute("href");
      assert.ok(href.includes(asked), href);
      await chips.getByRole("button", { name: `Take away: job ${job}` }).click();
      const left = `root_id=${root}&include_superseded=true`;
      await page.waitForURL((url) => url.search === `?${left}`);
      await untilShown(page, daemon, left);
      await page.getByRole("alert").waitFor({ state: "detached" });
      const focused = page.locator(":focus");
      await hasFocus(chips.getByRole("button", { name: /^Take away: / }).and(focused));
      await page.getByRole("button", { name: "Clear filters" }).click();
      await chips.waitFor({ state: "detached" });
      await hasFocus(more(page));
    });
  });

  test("has the usual filters in one row", async () => {
    const options = { viewport: { width: 1440, height: 900 } };
    await withPage(browser, `${daemon.url}/runs`, options, async (page) => {
      await rows(page).first().waitFor();
      const feet = await settled(page, () =>
        page.locator("form.filters > *").evaluateAll((all) =>
          all.map((field) => Math.round(field.getBoundingClientRect().bottom)),
        ),
      );
      assert.equal(new Set(feet).size, 1, feet.join(" "));
    });
  });

  test("says what to do when nothing matches", async () => {
    await withPage(browser, `${daemon.url}/runs?q=nosuchrun`, {}, async (page) => {
      await page.getByRole("heading", { name: "No run matches" }).waitFor();
      await page.getByRole("button", { name: "Clear filters" }).last().click();
      await rows(page).first().waitFor();
      await page.waitForURL((url) => url.search === "");
    });
  });

  test("finds a run as its name is typed", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      const field = page.getByLabel("name or path");
      const example = await field.getAttribute("placeholder");
      const { total } = await daemon.get(`/api/v1/runs?limit=1&q=${encodeURIComponent(example)}`);
      assert.ok(total > 0, `the example "${example}" finds runs`);
      await field.pressSequentially("gpus384");
      await until("one run", async () => (await rows(page).count()) === 1);
      assert.match(await cells(page, "experiment").innerText(), /gpus384/);
    });
  });

  test("keeps what else is chosen while one types, and clears what is typed", async () => {
    await withPage(browser, `${daemon.url}/runs?dtype=fp8`, {}, async (page) => {
      await rows(page).first().waitFor();
      // Time stands still but where it is told to pass: a slow machine's would end the pause first.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 60_000);
      const field = page.getByLabel("name or path");
      const type = () =>
        page.evaluate(() => {
          const input = document.querySelector(".field-text input");
          input.value = "gpus";
          input.dispatchEvent(new Event("input", { bubbles: true }));
        });
      const click = (label) =>
        page.evaluate((wanted) => {
          const all = [...document.querySelectorAll("main button")];
          all.find((button) => button.innerText.trim().startsWith(wanted)).click();
        }, label);
      // The page has drawn what was typed, and the pause is not over that typing waits for.
      const typeAndClick = async (label) => {
        await type();
        await page.clock.runFor(100);
        await click(label);
        await page.clock.runFor(1_000);
      };
      const searchIs = (search) => page.waitForURL((url) => url.search === search);
      await typeAndClick("Step time");
      await searchIs("?q=gpus&dtype=fp8&sort=step_time_s_mean");
      await field.fill("");
      await page.clock.runFor(1_000);
      await searchIs("?dtype=fp8&sort=step_time_s_mean");
      await typeAndClick("Clear filters");
      await searchIs("?sort=step_time_s_mean");
      assert.equal(await field.inputValue(), "");
      // At once, as real time passes, too: what is typed is not to become a step of its own.
      await page.clock.resume();
      await page.evaluate(() => {
        const input = document.querySelector(".field-text input");
        input.value = "gpus";
        input.dispatchEvent(new Event("input", { bubbles: true }));
        history.back();
      });
      await searchIs("?dtype=fp8&sort=step_time_s_mean");
      await page.clock.runFor(1_000);
      await searchIs("?dtype=fp8&sort=step_time_s_mean");
      assert.equal(await field.inputValue(), "");
    });
  });

  test("says how many runs each value would show beside the other filters", async () => {
    const { failure_cause: named } = await daemon.get("/api/v1/choices");
    assert.ok(named.length > 2);
    const causes = [...named, "none"];
    await withPage(browser, `${daemon.url}/runs?workload=grok1`, {}, async (page) => {
      await rows(page).first().waitFor();
      await more(page).click();
      const list = await opened(page, "failed by");
      const counts = list.locator(".choice-count");
      await until("a count of each", async () => (await counts.count()) === causes.length);
      const totals = await Promise.all(
        causes.map(async (cause) => {
          const query = `workload=grok1&failure_cause=${cause}&limit=1`;
          return (await daemon.get(`/api/v1/runs?${query}`)).total;
        }),
      );
      const shown = (await counts.allInnerTexts()).map((text) => parseInt(text, 10));
      const inOrder = (all) => [...all].sort((a, b) => a - b);
      assert.deepEqual(inOrder(shown), inOrder(totals));
      const none = totals.filter((total) => total === 0).length;
      assert.ok(none > 0);
      assert.equal(await list.locator(".is-empty").count(), none);
    });
  });
});
