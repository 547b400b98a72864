// Every page in light and dark, narrow and wide: nothing that axe finds, nothing wider than the
// screen, and a picture of each (in LLMB_SCREENSHOTS, where that names a folder).
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { kLooks, violations } from "./axe.mjs";
import { withPage } from "./browser.mjs";
import { fits, overflow, settled, twoFrames } from "./page.mjs";
import { daemon, findRun, growing } from "./site.mjs";
import { browser } from "./started_browser.mjs";

const pictures = process.env.LLMB_SCREENSHOTS;
if (pictures) mkdirSync(pictures, { recursive: true });

const kPages = [
  ["board", async () => "/", "button.cell"],
  ["certification", async () => "/?view=certification", "section.suite"],
  ["runs", async () => "/runs", "table.runs tr[data-run]"],
  ["runs-filtered", async () => "/runs?since=2020-01-01&mfu_at_least=0&root_id=1&xyz=1", ".chips"],
  [
    "run-complete",
    async () => {
      const { id } = await findRun("workload=pretrain_grok1&status=complete&gpu_type=gb200");
      return `/runs/${id}`;
    },
    ".plot canvas",
  ],
  ["run-failed", async () => `/runs/${(await findRun("status=failed")).id}`, ".failure-card"],
  [
    "run-log",
    async () => {
      const { id } = await findRun("status=failed");
      const { failure } = await daemon.get(`/api/v1/runs/${id}`);
      return `/runs/${id}?log=${failure?.offset ?? 0}`;
    },
    ".log-lines .is-chosen",
  ],
  [
    "run-running",
    async () => `/runs/${(await findRun(`experiment=${growing.experiment}`)).id}`,
    ".outlook",
  ],
  ["compare", comparePath, "table.compared"],
  ["scaling", async () => "/scaling", ".scaling-plot"],
  ["history", async () => "/history?days=any", ".history-plot"],
  ["failures", async () => "/failures", ".failure-bars"],
  ["references", async () => "/references?findings=only", "td.found"],
  ["jobs", async () => "/jobs", ".panel"],
  ["health", async () => "/health", ".facts"],
  ["no-match", async () => "/runs?q=nosuchrun", ".panel"],
];

// Its names and values are the hardest to fit.
async function longestRunPath() {
  const { runs } = await daemon.get("/api/v1/runs?limit=500");
  const longest = runs.sort((a, b) => b.experiment.length - a.experiment.length)[0];
  return `/runs/${longest.id}`;
}

async function comparePath() {
  const { runs } = await daemon.get("/api/v1/runs?limit=2&q=gpus96_");
  return `/compare?runs=${runs.map((run) => run.id).join(",")}`;
}

// What scrolls sideways and does not show it: its text would seem to be cut.
function cutWithoutSign(page) {
  return page.evaluate(() => {
    const isCut = (element) => element.scrollWidth > element.clientWidth + 1;
    const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const shows = (element) => getComputedStyle(element).backgroundAttachment.includes("local");
    return [...document.querySelectorAll("main *")]
      .filter((element) => isCut(element) && scrolls(element) && !shows(element))
      .map((element) => `<${element.localName} class="${element.className}">`);
  });
}

describe("every page", () => {
  for (const [name, pathOf, sign] of kPages) {
    for (const { width, colorScheme } of kLooks) {
      test(`${name}, ${width} px, ${colorScheme}`, async () => {
        const options = { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" };
        await withPage(browser, daemon.url + (await pathOf()), options, async (page) => {
          await page.locator(sign).first().waitFor();
          await page.getByText("live", { exact: true }).waitFor();
          await fits(page);
          if (pictures) {
            const file = `${name}-${width}-${colorScheme}.png`;
            await page.screenshot({ path: path.join(pictures, file), fullPage: true });
          }
          assert.deepEqual(await violations(page), []);
        });
      });
    }
  }

  // Between the looks: where a line no longer fits beside another.
  const kWidths = [320, 390, 480, 640, 701, 768, 820, 901, 1024, 1100, 3840];
  for (const [name, pathOf, sign] of [...kPages, ["run-longest", longestRunPath, ".configuration"]]) {
    test(`${name} fits every width`, async () => {
      const options = { viewport: { width: 1280, height: 900 } };
      await withPage(browser, daemon.url + (await pathOf()), options, async (page) => {
        await page.locator(sign).first().waitFor();
        const beyond = [];
        for (const width of kWidths) {
          await page.setViewportSize({ width, height: 900 });
          await twoFrames(page);
          const [pixels, cuts] = await settled(page, async () => [
            await overflow(page),
            await cutWithoutSign(page),
          ]);
          if (pixels > 0) beyond.push(`${pixels} px beyond ${width}`);
          for (const cut of cuts) beyond.push(`${cut} at ${width} px`);
        }
        assert.deepEqual(beyond, []);
      });
    });
  }
});
