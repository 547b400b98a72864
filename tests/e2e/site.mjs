// What the dashboard's tests share: the real daemon on a copy of the sample tree with runs of
// their own beside it, a browser, and what they look at. Importing it skips them all where they
// cannot run.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, renameSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { isAnswered, launch, missing } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";

const reason = missing();
if (reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

const sampleTree = fileURLToPath(new URL("../../deploy/sample-tree", import.meta.url));
const kHeartMs = 30_000; // a log is taken for hung once it was silent for twenty steps
const kLongAgoMs = 20 * 60_000; // and for ended after ten minutes
const kManyRuns = 90; // more than a screen and its surroundings hold
export const kA4Width = 703; // px, less the margins
export const kManyGpus = 96; // tells those runs from the ones of the sample tree

export const rows = (page) => page.locator("table.runs tbody tr[data-run]");
export const cells = (page, column) =>
  page.locator(`table.runs tbody tr[data-run] .col-${column}`);

export let browser;
export let daemon;
export let growing; // running, however long the tests take
let heart;
export let reported; // with reports on its ranks; it broke off
export let traced; // with a checkpoint and an evaluation
export let cascaded; // one rank's failure, and what others saw of it

const kTrace =
  "node1:71:802 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f recvbuff 0x7f acc (nil) count " +
  "4096 datatype 9 op 0 root 0 comm 0x55aa [nranks=8] stream 0x66\n" +
  "node1:71:802 [0] NCCL INFO AllGather: opCount 20 sendbuff 0x7f recvbuff 0x7f acc (nil) count " +
  "1024 datatype 9 op 0 root 0 comm 0x55aa [nranks=8] stream 0x66\n";
const kWatchdog =
  "[rank8]:[E ProcessGroupNCCL.cpp:542] [Rank 8] Watchdog caught collective operation " +
  "timeout: WorkNCCL(SeqNum=11, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) " +
  "ran for 600083 milliseconds before timing out.\n";
const kCascade =
  "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" +
  `${kWatchdog}srun: error: node1: task 3: Exited with exit code 1\n`;
const kRankReports =
  "INFO:megatron.core.utils:[2026-03-14 23:07:56] | MnRtt/Rnk: 700.08ms/5 | MxRtt/Rnk: 762.5ms/11" +
  " | MnPwr/Rnk: 601796.00W/8 | MxPwr/Rnk: 683801.00W/11\n" +
  "STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks: " +
  "{StragglerId(rank=11, node='node-2')}\n";
const kCheckpoint =
  "[NeMo I 2025-09-01 10:05:00 nemo_logging:393] Global Checkpoint Save : Rank: 0 : Iteration: 24 " +
  ": Start time: 1756721100.0s : Save duration: 4.389s\n";
const kEvaluation = "Validation: iteration 1/2\nValidation: iteration 2/2\n";

before(async () => {
  browser = await launch();
  daemon = await Daemon.make();
  if (!existsSync(sampleTree)) throw new Error(`there is no sample tree at ${sampleTree}`);
  cpSync(sampleTree, daemon.tree, { recursive: true });
  for (let index = 0; index < kManyRuns; index += 1) {
    const options = { gpus: kManyGpus, jobId: 50000 + index, launchedAt: 1700000000 + 60 * index };
    new NemoLog(daemon.tree, options).growTo(49);
  }
  reported = new NemoLog(daemon.tree, { gpus: 768, jobId: 60003, launchedAt: 1800000050 });
  reported.append(kRankReports);
  reported.growTo(20);
  traced = new NemoLog(daemon.tree, { gpus: 1536, jobId: 60004, launchedAt: 1690000000 });
  traced.append(kTrace);
  traced.growTo(24);
  traced.append(kCheckpoint);
  traced.growTo(34);
  traced.append(kEvaluation);
  traced.growTo(49);
  const experiment = "pretrain_grok1_314b_<img src=x onerror='window.wasHostile=1'>_gpus8";
  const hostile = new NemoLog(daemon.tree, { experiment, jobId: 60005, launchedAt: 1700000001 });
  hostile.growTo(3);
  hostile.append("torch.OutOfMemoryError: CUDA out of memory. <script>wasHostile=1</script>\n");
  cascaded = new NemoLog(daemon.tree, { gpus: 192, jobId: 60006, launchedAt: 1700000002 });
  cascaded.growTo(12);
  cascaded.append(kCascade);
  beOfLongAgo(daemon.tree); // so that time alone changes no run's status while the tests last
  growing = new NemoLog(daemon.tree, { gpus: 384, jobId: 60001, launchedAt: 1800000000 });
  growing.growTo(20);
  heart = setInterval(() => growing.append("rank 0: still training\n"), kHeartMs).unref();
  await daemon.start();
});

after(async () => {
  clearInterval(heart);
  await browser?.close();
  await daemon?.remove();
});

function beOfLongAgo(tree) {
  const at = new Date(Date.now() - kLongAgoMs);
  for (const name of readdirSync(tree, { recursive: true })) {
    const file = path.join(tree, name);
    if (statSync(file).isFile()) utimesSync(file, at, at);
  }
}

// A run whose log has been silent for over twenty of its steps when it is seen first.
export async function makeHung() {
  const aside = path.join(daemon.folder, "aside");
  const log = new NemoLog(aside, { gpus: 1152, jobId: 60007, launchedAt: 1800000100 });
  log.growTo(20);
  const fourMinutesAgo = new Date(Date.now() - 240_000);
  utimesSync(log.file, fourMinutesAgo, fourMinutesAgo);
  const folder = path.join("experiments", log.experiment);
  renameSync(path.join(aside, folder), path.join(daemon.tree, folder));
  return until("it is shown as hung", async () => {
    const { runs } = await daemon.get(`/api/v1/runs?limit=1&experiment=${log.experiment}`);
    return runs.find((run) => run.failure_cause === "hung");
  });
}

// Plots are drawn anew in the frame after the one that shows them their new width.
export function twoFrames(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

// What `read` gives of a page that has its answers, once two frames change nothing of it.
export async function settled(page, read) {
  let found = await read();
  await until("the page is at rest", async () => {
    const before = JSON.stringify(found);
    await twoFrames(page);
    found = await read();
    return isAnswered(page) && JSON.stringify(found) === before;
  });
  return found;
}

// How much wider the page is than its window; a page of any width shows everything.
export function overflow(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}

export async function fits(page) {
  const beyond = await settled(page, () => overflow(page));
  assert.equal(beyond, 0, `${beyond} px beyond the window`);
}

// The file that a page gives for what is done to it.
export async function downloadBy(page, act) {
  const [file] = await Promise.all([page.waitForEvent("download"), act()]);
  return file;
}

export const scrolledTo = (page, top) =>
  until(`${top} px`, async () => (await page.evaluate(() => scrollY)) === top);
export const hasFocus = (what) =>
  until(`the focus on ${what}`, () => what.evaluate((one) => one === document.activeElement));

// Of both clocks: the page goes by the server's. One route for all times of a page, so that no answer
// with an earlier one is on its way when the time is set anew.
const times = new WeakMap();
export async function setTime(page, ms) {
  const isRouted = times.has(page);
  times.set(page, ms);
  if (!isRouted) {
    await page.route(/\/api\/v1\/status$/, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), date: new Date(times.get(page)).toUTCString() };
      await route.fulfill({ response, headers });
    });
  }
  await page.clock.setFixedTime(ms);
}

export async function findRun(query) {
  const { runs } = await daemon.get(`/api/v1/runs?limit=1&${query}`);
  assert.equal(runs.length, 1, query);
  return runs[0];
}

export async function assertDrawn(canvas) {
  const colours = () =>
    canvas.evaluate((element) => {
      const { width, height } = element;
      if (width === 0 || height === 0) return 0;
      const { data } = element.getContext("2d").getImageData(0, 0, width, height);
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4)
        seen.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
      return seen.size;
    });
  await until("more than five colours on the canvas", async () => (await colours()) > 5);
}
