// Brings node_modules to what package-lock.json says, once for each lock file. Several builds may
// ask at the same time; one installs and the others wait.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";

const kNodeMin = 18;
const kLockStaleMs = 10 * 60 * 1000; // its owner was killed

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const mark = path.join(web, "node_modules", ".installed");
const lock = path.join(web, ".install-lock");

function wanted() {
  const files = ["package.json", "package-lock.json"].map((name) =>
    readFileSync(path.join(web, name)),
  );
  return createHash("sha256").update(Buffer.concat(files)).digest("hex");
}

function isInstalled() {
  try {
    return readFileSync(mark, "utf8") === wanted();
  } catch {
    return false;
  }
}

function tryLock() {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  try {
    if (Date.now() - statSync(lock).mtimeMs > kLockStaleMs) rmSync(lock, { recursive: true });
  } catch {
    // Its owner has just let go of it.
  }
  return false;
}

if (Number(process.versions.node.split(".")[0]) < kNodeMin) {
  console.error(`web: Node ${process.versions.node} is too old; ${kNodeMin} or newer is needed`);
  process.exit(1);
}
while (!isInstalled()) {
  if (!tryLock()) {
    await pause(200);
    continue;
  }
  try {
    if (isInstalled()) break;
    const npm = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: web, stdio: "inherit" });
    if (npm.status !== 0) {
      console.error("web: npm ci failed; the dashboard's packages could not be fetched");
      process.exitCode = 1;
      break;
    }
    writeFileSync(mark, wanted());
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
