// A run whose job Slurm will end before its last iteration says so. Slurm's commands are scripts here,
// which answer as its own do.
import assert from "node:assert/strict";
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { withPage } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog, stepTime } from "./logs.mjs";
import { browser } from "./started_browser.mjs";

const runner = path.join(path.dirname(process.env.LLMB_REPORT_BIN), "llmb-step-runner");
const skip = existsSync(runner) ? false : `there is no ${runner}`;
const kHeartMs = 5_000; // its run's log counts as silent after a few steps
const kSubmission = {
  workload: "pretrain_nemotron4",
  model_size: "15b",
  dtype: "bf16",
  scale: 64,
  gpu_type: "h100",
  proxy: true,
};

describe("the outlook of a job's run", { skip }, () => {
  let service;
  let run;
  let queueHolds;
  let heart;
  before(async () => {
    service = await Daemon.make();
    service.nameCluster("ci");
    const folder = path.join(service.folder, "slurm");
    mkdirSync(folder);
    const answers = {
      // Its comment tells Slurm's job from another with its number.
      sbatch: `for word; do case "$word" in --comment=*) echo "$word" >${folder}/comment;; esac; done; echo 63001`,
      squeue: `cat ${folder}/queue.json`,
      sacct: "true",
      scancel: "true",
      sinfo: "true",
    };
    for (const [name, line] of Object.entries(answers)) {
      writeFileSync(path.join(folder, name), `#!/bin/sh\n${line}\n`);
      chmodSync(path.join(folder, name), 0o755);
    }
    queueHolds = (jobs) =>
      writeFileSync(path.join(folder, "queue.json"), JSON.stringify({ errors: [], jobs }));
    queueHolds([]);
    appendFileSync(service.configuration, `  command_path: ${folder}:/usr/bin:/bin\n`);
    await service.start();
    const authorization = `Bearer ${service.makeToken("ci")}`;
    const answer = await fetch(`${service.url}/api/v1/jobs`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(kSubmission),
    });
    assert.equal(Math.floor(answer.status / 100), 2, await answer.clone().text());
    const [{ id }] = (await answer.json()).jobs;
    const job = await until("Slurm has the job", async () => {
      const one = await service.get(`/api/v1/jobs/${id}`);
      return one.job_id === 63001 && one;
    });
    const comment = readFileSync(path.join(folder, "comment"), "utf8").trim().split("=")[1];
    const nowS = Math.floor(Date.now() / 1000);
    service.queued = (end_time) => ({
      job_id: 63001,
      submit_time: nowS - 5,
      job_state: "RUNNING",
      comment,
      nodes: "node[1-8]",
      start_time: nowS,
      end_time,
    });
    const { experiment, launch_id } = job;
    const launchedAt = launch_id.slice(experiment.length + 1);
    const log = new NemoLog(service.tree, { experiment, jobId: 63001, launchedAt });
    log.growTo(20);
    heart = setInterval(() => log.append("rank 0: still training\n"), kHeartMs).unref();
    run = await until("its run", async () => {
      const { runs } = await service.get("/api/v1/runs?job_id=63001");
      return runs[0]?.last_iteration === 20 && runs[0];
    });
  });
  after(async () => {
    clearInterval(heart);
    await service?.remove();
  });

  // Of the iterations from 21 on, in seconds.
  const kPace = stepTime(20);
  const verdict = (page) => page.locator(".outlook .window-note");
  const told = (page, pattern) =>
    until(`words like ${pattern}`, async () => pattern.test(await verdict(page).innerText()));

  test("says where its time limit ends it, as Slurm tells, and when it does not", async () => {
    await withPage(browser, `${service.url}/runs/${run.id}`, {}, async (page) => {
      await told(page, /unless its job's time limit comes first/);
      const after = (steps) => Math.round(Date.now() / 1000 + steps * kPace);
      // The limit moves on with the clock: 17 steps from whenever the queue was read.
      const moving = setInterval(() => queueHolds([service.queued(after(17))]), 1_000);
      await told(
        page,
        /time limit, at .*, ends it at about iteration 3[5678], before its window/,
      ).finally(() => clearInterval(moving));
      queueHolds([service.queued(after(300))]);
      await told(page, /^At this pace it ends before its job's time limit, which is at /);
    });
  });
});
