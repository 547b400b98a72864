// Bundles tests/web/*.test.ts and runs them with Node's own test runner. It writes TAP, which
// deploy/test.sh reads.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const tests = path.join(web, "../tests/web");
const out = mkdtempSync(path.join(tmpdir(), "llmb-web-tests-"));
try {
  const names = readdirSync(tests).filter((name) => name.endsWith(".test.ts"));
  if (names.length === 0) throw new Error(`no tests in ${tests}`);
  await build({
    entryPoints: names.map((name) => path.join(tests, name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const files = readdirSync(out).map((name) => path.join(out, name));
  const options = ["--enable-source-maps", "--test", "--test-reporter=tap"];
  process.exitCode = spawnSync(process.execPath, [...options, ...files], {
    stdio: "inherit",
  }).status;
} finally {
  rmSync(out, { recursive: true, force: true });
}
