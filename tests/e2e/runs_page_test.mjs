// The table of runs: order, length, and coming back to it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import {
  cells,
  downloadBy,
  fits,
  hasFocus,
  kA4Width,
  overflow,
  rows,
  scrolledTo,
  settled,
  twoFrames,
} from "./page.mjs";
import { more, popUp, shownIds, untilShown } from "./runs_list.mjs";
import { daemon, kManyGpus } from "./site.mjs";
import { browser } from "./started_browser.mjs";

// What of the cells is wider than the room that it has.
const cutTexts = (some) =>
  some.evaluateAll((all) =>
    all
      .flatMap((cell) => [cell, ...cell.querySelectorAll("span")])
      .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
      .map((part) => part.textContent),
  );

describe("the runs page", () => {
  test("lists what the API lists, newest first", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      const shown = rows(page);
      await until("the API's rows in the API's order", async () => {
        const { runs } = await daemon.get("/api/v1/runs?limit=100");
        const ids = await shown.evaluateAll((all) => all.map((row) => Number(row.dataset.run)));
        const expected = runs.slice(0, ids.length).map((run) => run.id);
        return ids.length > 10 && ids.join() === expected.join();
      });
      const { total } = await daemon.get("/api/v1/runs?limit=1");
      assert.equal(await page.locator(".count").innerText(), `${total} runs`);
      await page.getByText("live", { exact: true }).waitFor();
    });
  });

  test("says which runs are copies, with the way to the run that counts", async () => {
    const query = `q=gpus${kManyGpus}_`;
    const { runs } = await daemon.get(`/api/v1/runs?limit=100&${query}`);
    const copy = runs.find((run) => run.copy_of !== null);
    await withPage(browser, `${daemon.url}/runs?${query}`, {}, async (page) => {
      const row = page.locator(`table.runs tr[data-run="${copy.id}"]`);
      await row.getByRole("link", { name: `copy of run ${copy.copy_of}` }).waitFor();
      await row.locator("a.name").click();
      const note = page.locator(".run-head").getByText("Its log has the bytes of");
      await note.getByRole("link", { name: `run ${copy.copy_of}` }).click();
      await page.waitForURL(`${daemon.url}/runs/${copy.copy_of}`);
    });
  });

  test("holds only the rows on the screen, however far one scrolls", async () => {
    const { total } = await daemon.get("/api/v1/runs?limit=1");
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      assert.ok((await rows(page).count()) < total);
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      const last = page.locator(`table.runs tr[aria-rowindex="${total + 1}"][data-run]`);
      await last.waitFor();
      await page.locator('table.runs tr[aria-rowindex="2"]').waitFor({ state: "detached" });
      assert.ok((await rows(page).count()) < total);
      const head = await settled(page, () => page.locator("thead .col-experiment").boundingBox());
      assert.ok(head.y >= 0 && head.y < 100, "the head stays in sight");
    });
  });

  test("is found again as it was left: filter, place and all", async () => {
    const url = `${daemon.url}/runs?q=gpus${kManyGpus}_`;
    await withPage(browser, url, { viewport: { width: 1440, height: 600 } }, async (page) => {
      await rows(page).first().waitFor();
      await page.evaluate(() => scrollTo(0, 2000));
      await page.locator('table.runs tr[aria-rowindex="40"][data-run]').waitFor();
      const name = page.locator('table.runs tr[aria-rowindex="40"] a.name');
      for (const comeBack of [() => page.getByText("← Runs").click(), () => page.goBack()]) {
        await name.click();
        await page.locator(".plot canvas").first().waitFor();
        await comeBack();
        await name.waitFor();
        assert.match(page.url(), /q=gpus96_/);
        await scrolledTo(page, 2000);
      }
      await hasFocus(name);
    });
  });

  test("is stepped back to where it was left, though it was left at two places", async () => {
    const size = { viewport: { width: 1440, height: 600 } };
    await withPage(browser, `${daemon.url}/runs`, size, async (page) => {
      const leave = (name) => page.getByRole("link", { name, exact: true }).click();
      await rows(page).first().waitFor();
      await page.evaluate(() => scrollTo(0, 2000));
      await page.locator('table.runs tr[aria-rowindex="40"][data-run]').waitFor();
      await page.evaluate(() => document.querySelector('nav a[href="/health"]').click());
      await page.locator(".facts").first().waitFor();
      await leave("Runs");
      await rows(page).first().waitFor();
      await scrolledTo(page, 2000);
      await page.evaluate(() => scrollTo(0, 0));
      await leave("Health");
      await page.locator(".facts").first().waitFor();
      await page.goBack();
      await rows(page).first().waitFor();
      await scrolledTo(page, 0);
      await page.goBack();
      await page.goBack();
      await rows(page).first().waitFor();
      await scrolledTo(page, 2000);
    });
  });

  test("goes on where rows could not be had, once they are asked for again", async () => {
    const { total } = await daemon.get("/api/v1/runs?limit=1");
    await withPage(browser, `${daemon.url}/runs`, {}, async (page, complaints) => {
      await rows(page).first().waitFor();
      complaints.expect(/ERR_|Failed to load resource/);
      await page.route(/cursor=/, (route) => route.abort("connectionrefused"));
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      const again = page.getByRole("button", { name: "Try again" });
      await again.waitFor();
      await page.unroute(/cursor=/);
      // The reader is where the rows lack; an event may have them asked for again before.
      await page.evaluate(() => {
        const buttons = [...document.querySelectorAll("main button")];
        buttons.find((button) => button.innerText === "Try again")?.click();
      });
      await page.locator(`table.runs tr[aria-rowindex="${total + 1}"][data-run]`).waitFor();
    });
  });

  test("says of which run a cell is, to who does not see the table", async () => {
    const { runs } = await daemon.get("/api/v1/runs?limit=1");
    const [{ id }] = runs;
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      const row = rows(page).first();
      const head = row.getByRole("rowheader");
      assert.equal(await head.count(), 1);
      await head.getByRole("link", { name: new RegExp(`, run ${id}$`) }).waitFor();
      await row.getByRole("checkbox", { name: new RegExp(`^Compare run ${id}, `) }).waitFor();
      assert.equal(await cells(page, "run").first().innerText(), String(id));
    });
  });

  test("shows the columns that its reader chooses, and remembers them", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      assert.equal(await page.locator("th.col-window").count(), 0);
      await page.getByText("Columns", { exact: true }).click();
      await popUp(page, "Columns").getByLabel("Window").check();
      await page.locator("th.col-window").waitFor();
      await page.reload();
      await page.locator("th.col-window").waitFor();
      await page.getByText("Columns", { exact: true }).click();
      await page.getByRole("button", { name: "The usual ones" }).click();
      await page.locator("th.col-window").waitFor({ state: "detached" });
    });
  });

  test("says in the row what a run failed by", async () => {
    const { runs } = await daemon.get("/api/v1/runs?status=failed&limit=1");
    await withPage(browser, `${daemon.url}/runs?status=failed`, {}, async (page) => {
      const row = page.locator(`tr[data-run="${runs[0].id}"]`);
      await row.waitFor();
      const cause = await row.locator(".cause").innerText();
      assert.equal(cause.toLowerCase().split(" ")[0], runs[0].failure_cause.split("_")[0]);
    });
  });

  test("sorts by step time, by keyboard, and says so", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByRole("button", { name: /Step time/ }).focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(/sort=step_time_s_mean/);
      await page.locator('th.col-step_time[aria-sort="ascending"]').waitFor();
      const expected = await daemon.get("/api/v1/runs?sort=step_time_s_mean&limit=100");
      await until("the API's order", async () => {
        const ids = await rows(page).evaluateAll((all) =>
          all.map((row) => Number(row.dataset.run)),
        );
        const wanted = expected.runs.slice(0, ids.length).map((run) => run.id);
        return ids.length > 10 && ids.join() === wanted.join();
      });
      const means = (await cells(page, "step_time").allInnerTexts()).map(parseFloat);
      const known = means.filter(Number.isFinite);
      assert.ok(known.length > 10);
      assert.deepEqual(
        known,
        [...known].sort((a, b) => a - b),
      );
    });
  });

  test("orders runs by their speed against the published one, and shows MFU", async () => {
    const order = "sort=speed_against_reference";
    const { runs } = await daemon.get(`/api/v1/runs?limit=1&${order}`);
    assert.ok(runs[0].speed_against_reference < 1);
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await page.getByRole("button", { name: "Of published" }).click();
      await page.waitForURL(new RegExp(order));
      await untilShown(page, daemon, order);
      const speed = (100 * runs[0].speed_against_reference).toFixed(1);
      assert.match(await cells(page, "published").first().innerText(), new RegExp(`^${speed} %`));
      const mfu = (100 * runs[0].mfu).toFixed(1);
      assert.equal(await cells(page, "mfu").first().innerText(), `${mfu} %`);
    });
  });

  test("keeps a view under a name", async () => {
    await withPage(browser, `${daemon.url}/runs?status=failed`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByText("Views", { exact: true }).click();
      await page.getByLabel("keep this view as").fill("what failed");
      await page.getByRole("button", { name: "Keep", exact: true }).click();
      await page.getByRole("link", { name: "what failed" }).waitFor();
      await page.goto(`${daemon.url}/runs`);
      await rows(page).first().waitFor();
      await page.getByText("Views", { exact: true }).click();
      await page.getByRole("link", { name: "what failed" }).click();
      await page.waitForURL(/status=failed/);
      await page.getByText("Views", { exact: true }).click(); // it closed behind the chosen one
      await page.getByRole("button", { name: "Forget the view what failed" }).click();
      await page.getByRole("link", { name: "what failed" }).waitFor({ state: "detached" });
    });
  });

  test("gives the focus on where a button goes once it is pressed", async () => {
    await withPage(browser, `${daemon.url}/runs?sort=id`, {}, async (page) => {
      await rows(page).first().waitFor();
      const press = (name) => page.getByRole("button", { name, exact: true }).press("Enter");
      const columns = popUp(page, "Columns");
      await columns.locator("summary").click();
      await columns.getByLabel("Window").check();
      await press("The usual ones");
      await hasFocus(columns.locator("summary"));
      const views = popUp(page, "Views");
      await views.locator("summary").click();
      await views.getByLabel("keep this view as").fill("by id");
      await press("Keep");
      await press("Forget the view by id");
      await hasFocus(views.locator("summary"));
      const dtypes = popUp(page, "dtype");
      await dtypes.locator("summary").click();
      await dtypes.getByRole("checkbox").first().check();
      await press("Any dtype");
      await hasFocus(dtypes.locator("summary"));
      const pick = rows(page).first().getByRole("checkbox");
      await pick.check();
      await press("Pick none");
      await hasFocus(pick);
    });
  });

  test("gives what it lists as a file", async () => {
    await withPage(browser, `${daemon.url}/runs?status=failed`, {}, async (page) => {
      await rows(page).first().waitFor();
      const link = page.getByRole("link", { name: "CSV", exact: true });
      const file = await downloadBy(page, () => link.click());
      assert.equal(file.suggestedFilename(), "runs.csv");
      const { total } = await daemon.get("/api/v1/runs?status=failed&limit=1");
      const href = await page
        .getByRole("link", { name: "NDJSON", exact: true })
        .getAttribute("href");
      const text = await (await fetch(daemon.url + href)).text();
      const runs = text.trimEnd().split("\n").map((line) => JSON.parse(line));
      assert.equal(runs.length, total);
      assert.ok(runs.every((run) => run.status === "failed"));
    });
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`fits a narrow screen (${colorScheme})`, async () => {
      const options = { viewport: { width: 390, height: 800 }, colorScheme };
      await withPage(browser, `${daemon.url}/runs`, options, async (page) => {
        await rows(page).first().waitFor();
        await fits(page);
        await page.locator("a.name").first().click();
        await page.locator(".plot canvas").first().waitFor();
        await fits(page);
      });
    });
  }

  test("cuts no value of a run where rows are cards", async () => {
    for (const query of ["", "?status=failed"]) {
      await withPage(browser, `${daemon.url}/runs${query}`, {}, async (page) => {
        await rows(page).first().waitFor();
        const cut = [];
        for (const width of [320, 390, 560]) {
          await page.setViewportSize({ width, height: 900 });
          await page.locator("table.as-cards tr[data-run]").first().waitFor();
          await twoFrames(page);
          const values = page.locator("table.as-cards tr[data-run] td:not(.col-experiment)");
          const texts = await settled(page, () => cutTexts(values));
          cut.push(...texts.map((text) => `${text} at ${width} px`));
          const below = await settled(page, () =>
            page.locator("table.as-cards tr[data-run]").evaluateAll((all) =>
              all.filter((row) => row.scrollHeight > row.clientHeight + 1).length,
            ),
          );
          if (below > 0) cut.push(`${below} cards at their foot at ${width} px`);
        }
        assert.deepEqual(cut, []);
      });
    }
  });

  test("has fewer columns where there is less room, and cuts no figure", async () => {
    for (const query of ["", "?status=failed"]) {
      await withPage(browser, `${daemon.url}/runs${query}`, {}, async (page) => {
        await rows(page).first().waitFor();
        const cut = [];
        let least = Infinity;
        for (const width of [1440, 1240, 1152, 1024, 768, 680]) {
          await page.setViewportSize({ width, height: 800 });
          await twoFrames(page);
          const heads = page.locator("table.runs:not(.as-cards) thead th");
          await until(`a table at ${width} px`, async () => {
            const count = await heads.count();
            return count > 3 && count <= least && (await overflow(page)) === 0;
          });
          least = await heads.count();
          const figures = page.locator("tr[data-run] :is(.number, .col-status)");
          const texts = await settled(page, () => cutTexts(figures));
          cut.push(...texts.map((text) => `${text} at ${width} px`));
        }
        assert.deepEqual([...new Set(cut)], []);
        for (const key of ["status", "step_time"]) await cells(page, key).first().waitFor();
        await page.setViewportSize({ width: 1024, height: 800 });
        await popUp(page, "Columns").locator("summary").click();
        const lacking = page.locator("details.choice label").filter({ hasText: "no room" });
        await lacking.first().waitFor();
        await popUp(page, "Columns").getByLabel("Window").check();
        await page.locator("th.col-window").waitFor(); // before what is usual
      });
    }
  });

  const areOpen = (page, names) =>
    until(`open: ${names.join() || "none"}`, async () => {
      const open = await page.locator("details.choice[open] summary").allInnerTexts();
      return open.map((text) => text.split("\n")[0]).join() === names.join();
    });

  test("keeps every list that opens over it inside the window", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await more(page).click();
      const summaries = page.locator("details.choice summary");
      const beyond = [];
      for (const width of [1280, 1024, 720, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await twoFrames(page);
        for (const summary of await summaries.all()) {
          await summary.click();
          const open = page.locator("details.choice[open] .choice-list");
          const [list, pixels] = await settled(page, async () => [
            await open.boundingBox(),
            await overflow(page),
          ]);
          const isInside = list.x >= 0 && list.x + list.width <= width;
          if (!isInside || pixels > 0) {
            beyond.push(`${await summary.innerText()} at ${width} px`);
          }
          await summary.click();
        }
      }
      assert.deepEqual(beyond, []);
    });
  });

  test("closes such a list by Esc, by a click beside it and by another one", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await more(page).click();
      const marks = popUp(page, "marks").locator("summary");
      await popUp(page, "figures").locator("summary").click();
      await page.getByLabel("MFU, at least, %").focus();
      await marks.focus();
      await page.keyboard.press("Enter");
      await areOpen(page, ["marks"]);
      await popUp(page, "marks").getByRole("checkbox").first().focus();
      await page.keyboard.press("Escape");
      await areOpen(page, []);
      await hasFocus(marks);
      await popUp(page, "Columns").locator("summary").click();
      await popUp(page, "Columns").getByLabel("Window").check();
      await areOpen(page, ["Columns"]);
      await page.getByRole("heading", { level: 1 }).click();
      await areOpen(page, []);
      await marks.click();
      const last = popUp(page, "marks").getByRole("checkbox").last();
      await last.focus();
      await areOpen(page, ["marks"]);
      await page.keyboard.press("Tab"); // leaves it
      await areOpen(page, []);
    });
  });

  test("prints every row that it holds, with its name, and says where there are more", async () => {
    const { runs, total } = await daemon.get("/api/v1/runs?limit=100");
    assert.ok(runs.length < total);
    for (const width of [1280, kA4Width]) {
      await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
        await rows(page).first().waitFor();
        await page.setViewportSize({ width, height: 1000 });
        await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
        await page.emulateMedia({ media: "print" });
        await page.setViewportSize({ width: kA4Width, height: 1000 });
        await twoFrames(page);
        assert.deepEqual(await settled(page, () => shownIds(page)), runs.map(({ id }) => id));
        const heading = await page.locator(".page-head .count").innerText();
        assert.match(heading, /^the first 100 of (more than )?[\d,]+ runs$/);
        await page.locator(".on-paper").filter({ hasText: "CSV has all" }).waitFor();
        await fits(page);
        const names = await settled(page, () =>
          page.locator("table.runs a.name").evaluateAll((all) =>
            all.map((name) => [name.clientWidth, name.scrollWidth - name.clientWidth]),
          ),
        );
        assert.ok(names.every(([width, cut]) => width > 100 && cut <= 0), JSON.stringify(names));
        await page.emulateMedia({ media: "screen" });
        await page.setViewportSize({ width: 1440, height: 900 });
        await page.evaluate(() => dispatchEvent(new Event("afterprint")));
        await until("the rows of a screen", async () => (await rows(page).count()) < runs.length);
      });
    }
  });

  test("lets the keyboard skip to the content", async () => {
    await withPage(browser, `${daemon.url}/runs`, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.keyboard.press("Tab");
      await hasFocus(page.getByRole("link", { name: "Skip to content", exact: true }));
      await page.keyboard.press("Enter");
      await hasFocus(page.locator("#main"));
    });
  });
});
