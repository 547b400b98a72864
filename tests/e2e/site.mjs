// The site that most of the dashboard's tests look at: the real daemon on a copy of the sample tree,
// with runs of their own beside it. Importing it starts it before the tests and ends it behind them.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, renameSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import "./started_browser.mjs"; // first: where there is none, there is nothing to start

const sampleTree = fileURLToPath(new URL("../../deploy/sample-tree", import.meta.url));
const kHeartMs = 30_000; // a log is taken for hung once it was silent for twenty steps
const kLongAgoMs = 20 * 60_000; // and for ended after ten minutes
const kManyRuns = 90; // more than a screen and its surroundings hold
export const kManyGpus = 96; // tells those runs from the ones of the sample tree

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

export async function findRun(query) {
  const { runs } = await daemon.get(`/api/v1/runs?limit=1&${query}`);
  assert.equal(runs.length, 1, query);
  return runs[0];
}
