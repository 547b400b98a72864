// How quick the dashboard is over many runs, in Chromium: LLMB_REPORT_BIN=build/release/bin/llmb-report
// node tests/bench/dashboard_bench.mjs [RUNS [LIVE_MINUTES]]. The logs are written first, and read by
// the real daemon. Prints each figure beside its aim. With 0 minutes no page is left open.
import { NemoLog } from "../e2e/logs.mjs";
import { launch, missing } from "../e2e/browser.mjs";
import { Daemon } from "../e2e/daemon.mjs";

const kRuns = Number(process.argv[2] ?? 10_000);
const kLiveMinutes = Number(process.argv[3] ?? 3);
const kThrottling = 4;
const kRepeats = 5;
const kGrowths = 20;
const kLongRuns = 8; // that are compared
const kLongSteps = 2_000; // of each of them
const kLongGpus = 2_048; // tells them from the others
const kSettlingS = 60; // of an open page, before its heap is looked at

const reason = missing();
if (reason) {
  console.error(`dashboard_bench: ${reason}`);
  process.exit(1);
}

function say(what, figure, aim) {
  console.log(`${what.padEnd(64)} ${figure.padStart(12)}   aim ${aim}`);
}
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const p95 = (values) => [...values].sort((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1];

function writeRuns(tree) {
  for (let index = 0; index < kRuns; index += 1) {
    const gpus = [64, 128, 256, 512][index % 4];
    const options = { gpus, jobId: 100_000 + index, launchedAt: 1_700_000_000 + 60 * index };
    new NemoLog(tree, options).growTo(index % 10 === 0 ? 20 : 49);
  }
  for (let index = 0; index < kLongRuns; index += 1) {
    const options = { gpus: kLongGpus, jobId: 800_000 + index, launchedAt: 1_790_000_000 + index };
    const last = kLongSteps - 1;
    new NemoLog(tree, { ...options, last }).growTo(last);
  }
  const live = new NemoLog(tree, {
    gpus: 1024,
    jobId: 900_000,
    launchedAt: 1_800_000_000,
    last: 99_999,
  });
  live.growTo(2);
  return live;
}

async function throttle(page, rate) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
}

// From the start of the navigation to a list whose rows are drawn and that answers a key.
async function firstView(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await throttle(page, kThrottling);
  await page.goto(`${url}/runs`, { waitUntil: "commit" });
  const drawn = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const look = () => {
          if (!document.querySelector("table.runs tr[data-run]")) return requestAnimationFrame(look);
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0));
        };
        look();
      }),
  );
  await page.close();
  return drawn;
}

async function scrolling(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${url}/runs`);
  await page.locator("table.runs tr[data-run]").first().waitFor();
  const result = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const began = performance.now();
        let frames = 0;
        let nodes = 0;
        const step = () => {
          frames += 1;
          if (frames % 10 === 0) {
            nodes = Math.max(nodes, document.getElementsByTagName("*").length);
          }
          scrollBy(0, document.documentElement.scrollHeight / 300);
          const height = document.documentElement.scrollHeight - innerHeight;
          if (scrollY < height - 1 && frames < 1_000) return requestAnimationFrame(step);
          resolve({ framesPerSecond: (1000 * frames) / (performance.now() - began), nodes });
        };
        requestAnimationFrame(step);
      }),
  );
  await page.close();
  return result;
}

async function comingBack(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${url}/runs`);
  await page.locator("table.runs tr[data-run]").first().waitFor();
  await page.evaluate(() => scrollTo(0, 20_000));
  const name = page.locator("table.runs tr[data-run] a.name").nth(20);
  await name.waitFor();
  const times = [];
  for (let i = 0; i < kRepeats; i += 1) {
    await name.click();
    await page.locator(".plot canvas").first().waitFor();
    times.push(
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            const began = performance.now();
            const look = () => {
              const isBack = scrollY > 19_000 && document.querySelector("tr[data-run] a.name");
              if (isBack) resolve(performance.now() - began);
              else requestAnimationFrame(look);
            };
            addEventListener("popstate", () => requestAnimationFrame(look), { once: true });
            history.back();
          }),
      ),
    );
  }
  await page.close();
  return median(times);
}

// Eight long runs over each other, zoomed to a tenth and moved with the arrow key held down: a move
// a frame, from end to end and back.
async function panning(browser, daemon) {
  const { runs } = await daemon.get(`/api/v1/runs?limit=${kLongRuns}&q=gpus${kLongGpus}_`);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${daemon.url}/compare?runs=${runs.map((run) => run.id).join(",")}`);
  const plot = page.locator(".plot-overlay");
  await plot.locator("canvas").waitFor();
  await plot.scrollIntoViewIfNeeded();
  await plot.focus();
  for (let i = 0; i < 7; i += 1) await page.keyboard.press("+");
  const framesPerSecond = await plot.evaluate(
    (host) =>
      new Promise((resolve) => {
        const kFrames = 300;
        let frames = 0;
        let began = 0;
        const step = (now) => {
          if (frames === 0) began = now;
          if (frames === kFrames) return resolve((1000 * kFrames) / (now - began));
          frames += 1;
          const key = Math.floor(frames / 75) % 2 === 0 ? "ArrowRight" : "ArrowLeft";
          host.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
  );
  await page.close();
  return { runs: runs.length, framesPerSecond };
}

// What the heap of an open page gains while its run grows by a step a second, in bytes an hour:
// between the first minute, when everything was drawn once, and the last.
async function liveHeap(browser, daemon, live, path) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(daemon.url + path);
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  const grow = async (seconds) => {
    for (let i = 0; i < seconds; i += 1) {
      live.growTo(live.next);
      await page.waitForTimeout(1000);
    }
  };
  await grow(kSettlingS);
  const before = await used();
  const began = performance.now();
  await grow(60 * kLiveMinutes);
  const gained = (await used()) - before;
  await page.close();
  return (3_600_000 * gained) / (performance.now() - began);
}

async function logLines(browser, daemon, live) {
  const { runs } = await daemon.get("/api/v1/runs?job_id=900000");
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${daemon.url}/runs/${runs[0].id}`);
  await page.locator(".outlook").waitFor();
  const times = [];
  for (let i = 0; i < kGrowths; i += 1) {
    const next = live.next;
    const began = performance.now();
    live.growTo(next);
    await page.getByRole("heading", { name: `iteration ${next} / 99,999` }).waitFor();
    times.push(performance.now() - began);
  }
  await page.close();
  return p95(times);
}

const daemon = await Daemon.make();
console.log(`writing ${kRuns} logs …`);
const live = writeRuns(daemon.tree);
const browser = await launch();
try {
  await daemon.start();
  const views = [];
  for (let i = 0; i < kRepeats; i += 1) views.push(await firstView(browser, daemon.url));
  say(`first view of ${kRuns} runs, ${kThrottling} x throttled, median`, `${median(views).toFixed(0)} ms`, "< 1000 ms");
  const { framesPerSecond, nodes } = await scrolling(browser, daemon.url);
  say("scrolling over all rows", `${framesPerSecond.toFixed(0)} frames/s`, ">= 50 frames/s");
  say("nodes of the page meanwhile, at most", String(nodes), "< 5000");
  say("back to the place one left, median", `${(await comingBack(browser, daemon.url)).toFixed(0)} ms`, "< 300 ms");
  const { runs, framesPerSecond: moves } = await panning(browser, daemon);
  say(`moving through ${runs} runs of ${kLongSteps} steps`, `${moves.toFixed(0)} frames/s`, ">= 50 frames/s");
  say("a log line on the open page, p95", `${(await logLines(browser, daemon, live)).toFixed(0)} ms`, "< 1000 ms");
  if (kLiveMinutes > 0) {
    const { runs: [{ id }] } = await daemon.get("/api/v1/runs?job_id=900000");
    for (const path of [`/runs/${id}`, "/runs", "/"]) {
      const gained = await liveHeap(browser, daemon, live, path);
      const mib = `${(gained / 2 ** 20).toFixed(1)} MiB`;
      say(`an hour of ${path} live, from ${kLiveMinutes} min, adds to the heap`, mib, "< 20 MB");
    }
  }
} finally {
  await browser.close();
  await daemon.remove();
}
