// The keys of the table of runs, and where the focus stands meanwhile.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { hasFocus, rows, settled } from "./page.mjs";
import { popUp } from "./runs_list.mjs";
import { daemon } from "./site.mjs";
import { browser } from "./started_browser.mjs";

async function untilAtRest(page) {
  await rows(page).first().waitFor();
  await settled(page, () => rows(page).count());
}

describe("the keys of the runs page", () => {
  test("moves and picks by keyboard", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await untilAtRest(page);
      await rows(page).first().locator("a.name").focus();
      for (const key of ["j", "j", "k"]) await page.keyboard.press(key);
      const active = page.locator("table.runs tr.is-active");
      await until(
        "the second row",
        async () => (await active.getAttribute("aria-rowindex")) === "3",
      );
      await page.keyboard.press("x");
      await page.waitForURL(/pick=\d+/);
      assert.equal(await active.getByRole("checkbox").isChecked(), true);
      const id = await active.getAttribute("data-run");
      await hasFocus(active.locator("a.name"));
      await page.keyboard.press("Enter");
      await page.waitForURL(new RegExp(`/runs/${id}$`));
      await page.goBack();
      await untilAtRest(page);
      await hasFocus(page.locator(`tr[data-run="${id}"] a.name`));
      await page.keyboard.press("c"); // one run alone is nothing to compare
      for (const key of ["j", "j", "j", "x"]) await page.keyboard.press(key);
      await page.waitForURL(/pick=\d+%2C\d+/);
      await page.keyboard.press("c");
      await page.waitForURL(new RegExp(`/compare\\?runs=${id},\\d+$`));
      await page.goBack();
      await untilAtRest(page);
      await page.keyboard.press("/");
      await hasFocus(page.locator('input[type="search"]').first());
    });
  });

  test("listens to its keys as soon as it shows its rows", async () => {
    await withPage(browser, `${daemon.url}/references`, {}, async (page) => {
      // In the same task that draws the first row: no frame comes between.
      const typed = page.evaluate(
        () =>
          new Promise((resolve) => {
            new MutationObserver((_, observer) => {
              if (!document.querySelector("table.runs tbody tr[data-run]")) return;
              observer.disconnect();
              const key = new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true });
              document.body.dispatchEvent(key);
              resolve(document.activeElement?.getAttribute("type"));
            }).observe(document.body, { childList: true, subtree: true });
          }),
      );
      await page.getByRole("link", { name: "Runs", exact: true }).click();
      assert.equal(await typed, "search");
    });
  });

  test("takes single letters in its table alone, and names them", async () => {
    const { runs } = await daemon.get("/api/v1/runs?limit=2");
    const pick = runs.map(({ id }) => id).join();
    await withPage(browser, `${daemon.url}/runs?pick=${pick}`, {}, async (page) => {
      await untilAtRest(page);
      const before = page.url();
      for (const elsewhere of ["CSV", "Health"]) {
        await page.getByRole("link", { name: elsewhere, exact: true }).focus();
        for (const key of ["j", "x", "c"]) await page.keyboard.press(key);
      }
      await page.getByRole("heading", { level: 1 }).click();
      for (const key of ["j", "x", "c"]) await page.keyboard.press(key);
      assert.equal(page.url(), before);
      assert.equal(await page.locator("table.runs tr.is-active").count(), 0);
      const keys = popUp(page, "Keys");
      await keys.locator("summary").click();
      assert.deepEqual(await keys.locator("dt").allInnerTexts(), ["j", "k", "x", "c", "Enter"]);
      const third = rows(page).nth(2);
      await third.locator("a.name").focus();
      await page.keyboard.press("k");
      await hasFocus(rows(page).nth(1).locator("a.name")); // from where the focus was
      await page.keyboard.press("c");
      await page.waitForURL(/\/compare\?runs=/);
    });
  });

  test("keeps its keys where the active row is scrolled away", async () => {
    const size = { viewport: { width: 1440, height: 600 } };
    await withPage(browser, `${daemon.url}/runs`, size, async (page) => {
      await untilAtRest(page);
      await rows(page).first().locator("a.name").focus();
      await page.keyboard.press("j");
      await hasFocus(page.locator("table.runs tr.is-active a.name"));
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      await page.locator('table.runs tr[aria-rowindex="3"]').waitFor({ state: "detached" });
      await page.keyboard.press("j");
      await hasFocus(page.locator('table.runs tr[aria-rowindex="4"] a.name'));
    });
  });

  test("takes the focus neither from a field nor from a row's own checkbox", async () => {
    const { runs } = await daemon.get("/api/v1/runs?limit=1");
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await untilAtRest(page);
      await rows(page).first().locator("a.name").focus();
      await page.keyboard.press("j");
      await hasFocus(rows(page).nth(1).locator("a.name"));
      await page.keyboard.press("k");
      await hasFocus(rows(page).first().locator("a.name"));
      await page.keyboard.press("/");
      await hasFocus(page.locator('input[type="search"]'));
      await page.keyboard.type(runs[0].experiment, { delay: 20 });
      await page.waitForURL(/q=/);
      await until("a shorter list", async () => (await rows(page).count()) > 0);
      const search = page.locator('input[type="search"]');
      await hasFocus(search);
      assert.equal(await search.inputValue(), runs[0].experiment);
      const pick = rows(page).first().getByRole("checkbox");
      await pick.focus();
      await page.keyboard.press("x");
      await page.waitForURL(/pick=\d+/);
      await hasFocus(pick);
    });
  });
});
