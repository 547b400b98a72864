// What every plot has: values under the crosshair, a zoom, its numbers and its picture to take along.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { until } from "./daemon.mjs";
import { downloadBy, hasFocus, settled } from "./page.mjs";
import { daemon, findRun, kManyGpus } from "./site.mjs";
import { browser } from "./started_browser.mjs";

// From one share of its width to another, at half of its height; gives where that was.
async function drag(page, plot, from, to) {
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await settled(page, () => plot.boundingBox());
  await page.mouse.move(x + from * width, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + ((from + to) / 2) * width, y + height / 2);
  await page.mouse.move(x + to * width, y + height / 2);
  await page.mouse.up();
}

// What its steps tell is here, which its plots mark.
const marked = (page) => page.getByText(/^A steady step takes /).waitFor();

const complete = () => findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");

// At once: on a busy machine the second click of a mouse may come too late to be one of two.
function clickTwice(plot) {
  return plot.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, view: window };
    for (const detail of [1, 2]) {
      for (const kind of ["mousedown", "mouseup", "click"]) {
        element.dispatchEvent(new MouseEvent(kind, { ...at, detail }));
      }
    }
    element.dispatchEvent(new MouseEvent("dblclick", { ...at, detail: 2 }));
  });
}

describe("every plot", () => {
  test("of a run shows the same step under the crosshair, and the same steps when zoomed", async () => {
    const { id } = await complete();
    await withPage(browser, `${daemon.url}/runs/${id}`, {}, async (page) => {
      const charts = page.locator("figure.chart");
      const plot = charts.first().locator(".u-over");
      await plot.waitFor();
      const pictures = () =>
        page.locator(".plot canvas").evaluateAll((all) => all.map((one) => one.toDataURL()));
      await page.locator(".lesser-charts canvas").first().waitFor();
      await page.mouse.move(0, 0);
      await page.locator(".plot canvas").nth(3).waitFor();
      await marked(page);
      const before = await settled(page, pictures);
      await drag(page, plot, 0.3, 0.6);
      await until("all of them zoomed", async () =>
        (await pictures()).every((picture, at) => picture !== before[at]),
      );
      await plot.hover();
      const readouts = () => charts.locator(".readout").allInnerTexts();
      await until("all of them at one step", async () => {
        const said = (await readouts()).map((text) => /iteration (\d+)/.exec(text)?.[1]);
        return said.every((iteration) => iteration && iteration === said[0]);
      });
      const whole = page.url();
      await clickTwice(plot);
      await page.mouse.move(0, 0);
      await until("everything again", async () => (await pictures()).join() === before.join());
      assert.equal(page.url(), whole);
    });
  });

  test("of a run leads to a step's line of the log, zoomed or not, and keeps its zoom in another theme", async () => {
    const { id } = await complete();
    await withPage(browser, `${daemon.url}/runs/${id}`, {}, async (page) => {
      const plot = page.locator("figure.chart .u-over").first();
      await plot.waitFor();
      const picture = () => page.locator(".plot canvas").first().evaluate((one) => one.toDataURL());
      await marked(page);
      const whole = await settled(page, picture);
      await drag(page, plot, 0.3, 0.6);
      await page.mouse.move(0, 0);
      await until("zoomed", async () => (await picture()) !== whole);
      const zoomed = await settled(page, picture);
      await page.emulateMedia({ colorScheme: "dark" });
      await until("dark", async () => (await picture()) !== zoomed);
      await page.emulateMedia({ colorScheme: "light" });
      await until("as zoomed as before", async () => (await picture()) === zoomed);
      const place = () => new URL(page.url()).searchParams.get("log");
      await plot.click();
      const inZoomed = await until("its line", place);
      await clickTwice(plot);
      await plot.click();
      await until("the line of another step", () => place() !== inZoomed);
    });
  });

  test("by iteration moves and zooms by keyboard, and with shift and a drag", async () => {
    const { id } = await complete();
    for (const path of [`/runs/${id}`, await comparePath()]) {
      await withPage(browser, daemon.url + path, {}, async (page) => {
        const plot = page.locator(".plot").first();
        await plot.locator("canvas").waitFor();
        await page.mouse.move(0, 0);
        const picture = () => plot.locator("canvas").evaluate((one) => one.toDataURL());
        if (path.startsWith("/runs/")) await marked(page);
        const whole = await settled(page, picture);
        const changed = async (from) => {
          await until("another picture", async () => (await picture()) !== from);
          return settled(page, picture);
        };
        await plot.focus();
        await page.keyboard.press("+");
        const near = await changed(whole);
        await page.keyboard.press("ArrowRight");
        const right = await changed(near);
        await page.keyboard.press("ArrowLeft");
        await until("back", async () => (await picture()) === near);
        await page.keyboard.down("Shift");
        await drag(page, plot.locator(".u-over"), 0.6, 0.4);
        await page.keyboard.up("Shift");
        await page.mouse.move(0, 0);
        const moved = await changed(near);
        assert.notEqual(moved, whole);
        assert.notEqual(moved, right);
        await page.keyboard.press("0");
        await until("everything", async () => (await picture()) === whole);
      });
    }
  });

  test("of a scaling series shows both of its values at one number of GPUs", async () => {
    await withPage(browser, `${daemon.url}/scaling?workload=pretrain_grok1`, {}, async (page) => {
      const series = page.locator("section.charts").filter({ hasText: /grok1 314b fp8 gb200/ });
      const plots = series.locator(".scaling-plot");
      await plots.first().locator("svg").hover();
      await until("both values", async () => {
        const [rate, efficiency] = await plots.locator(".readout").allInnerTexts();
        return (
          /^256 GPUs: [\d,]+, published [\d,]+$/.test(rate) &&
          /^256 GPUs: [\d.]+ %, published [\d.]+ %$/.test(efficiency) &&
          (await plots.locator(".cursor").count()) === 2
        );
      });
      await page.mouse.move(0, 0);
      await until("no crosshair", async () => (await plots.locator(".cursor").count()) === 0);
    });
  });

  test("of a scaling series zooms to the same numbers of GPUs in both, and back", async () => {
    await withPage(browser, `${daemon.url}/scaling?workload=pretrain_grok1`, {}, async (page) => {
      const series = page.locator("section.charts").filter({ hasText: /grok1 314b fp8 gb200/ });
      const plots = series.locator(".scaling-plot");
      await plots.nth(1).waitFor();
      const shown = () =>
        plots.evaluateAll((all) =>
          all.map((one) => {
            const labels = [...one.querySelectorAll("text.tick:not([text-anchor=end])")];
            const ofGpus = labels.map(({ textContent }) => textContent).filter((text) => +text > 0);
            return `${ofGpus}; ${one.querySelectorAll(".point").length} measured`;
          }),
        );
      const whole = await settled(page, shown);
      assert.deepEqual(whole, Array(2).fill("128,256,512; 3 measured"));
      const first = plots.first().locator("svg");
      await drag(page, first, 0.35, 0.99);
      await until("256 and 512 in both", async () =>
        (await shown()).every((scales) => scales === "256,512; 2 measured"),
      );
      await plots.nth(1).getByRole("button", { name: "Show all of it" }).click();
      await until("all", async () => (await shown()).join() === whole.join());
      await first.focus();
      for (let presses = 0; presses < 2; presses += 1) await page.keyboard.press("+");
      await until("256 alone", async () =>
        (await shown()).every((scales) => scales === "256; 1 measured"),
      );
      for (let presses = 0; presses < 9; presses += 1) await page.keyboard.press("ArrowRight");
      await until("moved to 512", async () =>
        (await shown()).every((scales) => scales === "512; 1 measured"),
      );
      await page.keyboard.press("0");
      await until("all again", async () => (await shown()).join() === whole.join());
    });
  });

  test("of values zooms into them, moves with shift and a drag, and says what is left", async () => {
    const pages = [
      [await comparePath(), ".distribution-plot", "circle.dot"],
      [`/runs/${(await complete()).id}`, ".agreement-plot", "path.other"],
    ];
    for (const [path, name, mark] of pages) {
      await withPage(browser, daemon.url + path, {}, async (page) => {
        const plot = page.locator(name);
        const svg = plot.locator("svg");
        await plot.locator(mark).first().waitFor();
        // Where the first dot stands, if it is shown, and what the axis says.
        const view = () =>
          plot.evaluate((one, mark) => {
            const ticks = [...one.querySelectorAll("text.tick")].map((tick) => tick.textContent);
            const left = one.querySelector(mark)?.getBoundingClientRect().left ?? NaN;
            return `${ticks.join(" ")} @ ${Math.round(left + scrollX)}`;
          }, mark);
        await page.mouse.move(0, 0);
        const whole = await settled(page, view);
        const changed = async (from) => {
          await until("another view", async () => (await view()) !== from);
          return settled(page, view);
        };
        await drag(page, svg, 0.5, 0.8);
        const near = await changed(whole);
        await page.keyboard.down("Shift");
        await drag(page, svg, 0.6, 0.7);
        await page.keyboard.up("Shift");
        const moved = await changed(near);
        assert.notEqual(moved, whole);
        await svg.dblclick();
        await until("everything", async () => (await view()) === whole);
        await svg.focus();
        await page.keyboard.press("+");
        await changed(whole);
        await plot.getByRole("button", { name: "Show all of it" }).press("Enter");
        await until("everything", async () => (await view()) === whole);
        await hasFocus(svg);
      });
    }
  });

  test("of a history names the run under the crosshair, and zooms into a time", async () => {
    await withPage(browser, `${daemon.url}/history?days=any`, {}, async (page) => {
      const plot = page.locator(".history-plot").first(); // what changed stands first
      await plot.locator("circle.point").first().waitFor();
      const count = await plot.locator("circle.point").count();
      await plot.locator("circle.point").last().hover();
      await until("its run", async () =>
        /^run \d+, [\d: -]+: median step [\d.]+ s$/.test(await plot.locator(".readout").innerText()),
      );
      await drag(page, plot.locator("svg"), 0.5, 0.95);
      await until("fewer runs", async () => {
        const shown = await plot.locator("circle.point").count();
        return shown > 1 && shown < count;
      });
      await plot.getByRole("button", { name: "Show all of it" }).click();
      await until("all runs", async () => (await plot.locator("circle.point").count()) === count);
    });
  });

  test("of what other tools report says the value of the row under the pointer", async () => {
    const { id } = await complete();
    await withPage(browser, `${daemon.url}/runs/${id}`, {}, async (page) => {
      const plot = page.locator(".agreement-plot");
      await plot.locator("circle.ours").hover();
      await until("ours", async () =>
        /^llmb-report: [\d.]+ s$/.test(await plot.locator(".readout").innerText()),
      );
    });
  });

  const kPages = [
    ["a run", async () => `/runs/${(await complete()).id}`, 6],
    ["a comparison", comparePath, 2],
    ["scaling", async () => "/scaling", 3],
    ["history", async () => "/history?days=any", 2],
  ];
  for (const [name, pathOf, atLeast] of kPages) {
    test(`of ${name} leaves the page as Markdown, CSV and PNG`, async () => {
      const options = { permissions: ["clipboard-read", "clipboard-write"] };
      await withPage(browser, daemon.url + (await pathOf()), options, async (page) => {
        const copies = page.locator("details.plot-copies");
        await copies.nth(atLeast - 1).waitFor();
        const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
        for (const one of await copies.all()) {
          await page.evaluate(() => navigator.clipboard.writeText(""));
          await one.locator("summary").click();
          await one.getByRole("button", { name: "Copy as Markdown" }).click();
          await until("Markdown", async () => /^\| .*\n\|---\|/.test(await clipboard()));
          const lines = (await clipboard()).trimEnd().split("\n").length - 1;
          await one.getByRole("button", { name: "Copy as CSV" }).click();
          await until("CSV", async () => /^[^|]/.test(await clipboard()));
          assert.equal((await clipboard()).trimEnd().split("\r\n").length, lines);
          assert.ok(lines > 1, "a row at least");
          const save = one.getByRole("button", { name: "Save as PNG" });
          const file = await downloadBy(page, () => save.click());
          assert.match(file.suggestedFilename(), /\.png$/);
        }
      });
    });
  }

  async function comparePath() {
    const { runs } = await daemon.get(`/api/v1/runs?limit=2&q=gpus${kManyGpus}_`);
    return `/compare?runs=${runs.map((run) => run.id).join(",")}`;
  }
});
