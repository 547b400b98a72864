// Makes the README's pictures: LLMB_REPORT_BIN=build/release/bin/llmb-report node
// tests/e2e/screenshots.mjs. The daemon serves a copy of the sample tree; the pages are those of its
// dashboard.
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch, missing } from "./browser.mjs";
import { Daemon } from "./daemon.mjs";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const reason = missing();
if (reason) {
  console.error(`screenshots: ${reason}`);
  process.exit(1);
}

const daemon = await Daemon.make();
cpSync(at("deploy/sample-tree"), daemon.tree, { recursive: true });
const browser = await launch();
try {
  await daemon.start();
  const complete = "/api/v1/runs?status=complete&workload=pretrain_grok1&sort=launched_at&limit=1";
  const { runs } = await daemon.get(complete);
  const pictures = [
    ["/", "button.cell", "deploy/screenshot.png"],
    [`/runs/${runs[0].id}`, ".plot canvas", "deploy/screenshot-run.png"],
  ];
  for (const [path, sign, file] of pictures) {
    const viewport = { width: 1280, height: 860 };
    const page = await browser.newPage({ viewport, reducedMotion: "reduce" });
    await page.goto(daemon.url + path);
    await page.locator(sign).first().waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await page.screenshot({ path: at(file) });
    await page.close();
    console.log(file);
  }
} finally {
  await browser.close();
  await daemon.remove();
}
