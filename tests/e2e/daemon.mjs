// Starts the program under test on a free port, with its own database and tree, and ends it.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const kReadyWithinMs = 600_000;
const kStartsAtMost = 5; // where its port is taken
const kNextStartMs = 1_000;

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export async function until(what, isDone, withinMs = 180_000) {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await isDone();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export class Daemon {
  through = []; // words of a command that starts the program

  static async make() {
    const daemon = new Daemon();
    daemon.folder = mkdtempSync(path.join(tmpdir(), "llmb-e2e-"));
    daemon.tree = path.join(daemon.folder, "workload");
    return daemon;
  }

  // Of what start() began; later starts keep it.
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  // The configuration file of a cluster that has no Slurm; before start().
  nameCluster(submitter) {
    this.configuration = path.join(this.folder, "llmb.yaml");
    mkdirSync(this.tree, { recursive: true });
    const lines = [
      `db: ${this.database}`,
      "cluster:",
      "  name: nowhere",
      `  workload_folder: ${this.tree}`,
      "  gpu_type: h100",
      "  gpus_per_node: 8",
      `  submitters: [${submitter}]`,
    ];
    writeFileSync(this.configuration, `${lines.join("\n")}\n`);
  }

  // By the command line; `about`: of which scope, and where.
  makeToken(name, about = ["--scope", "submit", "--config", this.configuration]) {
    const words = ["token", "create", name, ...about];
    const made = spawnSync(process.env.LLMB_REPORT_BIN, words, { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`no token: ${made.stderr}`);
    return made.stdout.trim();
  }

  get database() {
    return path.join(this.folder, "e2e.db");
  }

  // What it watches is its tree, or what `others` say. A port that was free may be another's by the
  // time that the program asks for it: then it is begun anew with the next one.
  async start(others = [this.tree]) {
    const isFirst = !this.port;
    for (let tries = 1; ; tries += 1) {
      if (isFirst) this.port = await freePort();
      try {
        return await this.#startAtPort(others);
      } catch (error) {
        if (tries === kStartsAtMost || !/already in use/.test(this.output)) throw error;
        await new Promise((resolve) => setTimeout(resolve, kNextStartMs));
      }
    }
  }

  async #startAtPort(others) {
    const program = process.env.LLMB_REPORT_BIN;
    const listen = `127.0.0.1:${this.port}`;
    const options = ["serve", "--db", this.database, "--listen", listen, ...others];
    if (this.configuration) options.splice(1, 0, "--config", this.configuration);
    const [first, ...words] = [...this.through, program, ...options];
    this.output = "";
    this.process = spawn(first, words, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream.on("data", (bytes) => {
        this.output += bytes;
      });
    }
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.said = new Promise((resolve) => this.process.once("close", resolve));
    await until("the daemon is ready", () => this.isReady(), kReadyWithinMs).catch((error) => {
      throw new Error(`${error.message}; it said:\n${this.output}`);
    });
  }

  async isReady() {
    if (this.process.exitCode !== null) {
      await this.said;
      throw new Error(`the daemon ended with ${this.process.exitCode}`);
    }
    // Until then whoever answers may be another at that port.
    if (!this.output.includes(`serving   ${this.url}`)) return false;
    try {
      const { first_scan_done, files_pending } = await this.get("/api/v1/status");
      return first_scan_done && files_pending === 0;
    } catch {
      return false;
    }
  }

  async get(resource) {
    const response = await fetch(this.url + resource);
    if (!response.ok) throw new Error(`${resource}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async stop() {
    if (!this.process || this.process.exitCode !== null) return;
    this.process.kill("SIGTERM");
    await this.ended;
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
