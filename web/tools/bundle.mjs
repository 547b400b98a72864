// Bundles the dashboard: node tools/bundle.mjs [--outdir DIR] [--embed FILE.cpp]
// Writes index.html and assets/NAME-HASH.EXT to DIR (default: dist), and with --embed also the
// C++ source that carries them inside the program. Fails when the page outgrows its budget.
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const kBudgetBytes = 160 * 1024; // everything together, gzip
const kContentTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const web = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { values: options } = parseArgs({
  options: { outdir: { type: "string" }, embed: { type: "string" } },
});
const outdir = path.resolve(options.outdir ?? path.join(web, "dist"));

async function bundle() {
  const result = await build({
    absWorkingDir: web,
    entryPoints: { app: "src/main.tsx" },
    outdir: "out",
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: ["es2020"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  const assets = result.outputFiles.map((file) => ({
    name: path.basename(file.path),
    bytes: Buffer.from(file.contents),
  }));
  assets.push({ name: "icon.svg", bytes: await readFile(path.join(web, "src/icon.svg")) });
  return assets;
}

// A name that changes with the content may be cached for ever.
function hashedPath({ name, bytes }) {
  const { name: stem, ext } = path.parse(name);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return `/assets/${stem}-${hash}${ext}`;
}

async function page(assets) {
  let html = await readFile(path.join(web, "src/index.html"), "utf8");
  for (const asset of assets) html = html.replaceAll(`{{${asset.name}}}`, asset.path);
  const left = /\{\{.*?\}\}/.exec(html);
  if (left) throw new Error(`src/index.html names ${left[0]}, which the bundle does not hold`);
  return { path: "/index.html", bytes: Buffer.from(html), isImmutable: false };
}

function cppSource(files) {
  const arrays = files.map((file, index) => {
    const lines = [];
    for (let at = 0; at < file.bytes.length; at += 24) {
      lines.push(`  ${[...file.bytes.subarray(at, at + 24)].join(",")},`);
    }
    return `const unsigned char kBytes${index}[] = {\n${lines.join("\n")}\n};\n`;
  });
  const entries = files.map(
    (file, index) =>
      `    {"${file.path}", "${kContentTypes[path.extname(file.path)]}",\n` +
      `     {reinterpret_cast<const char*>(kBytes${index}), sizeof kBytes${index}}, ` +
      `${file.isImmutable}},`,
  );
  return `// Generated from web/ by web/tools/bundle.mjs. Not to be edited.
#include "web/assets.h"

namespace llmb::web {
namespace {

${arrays.join("\n")}
const File kFiles[] = {
${entries.join("\n")}
};

}  // namespace

std::span<const File> files() { return kFiles; }

}  // namespace llmb::web
`;
}

const assets = (await bundle()).map((asset) => ({
  ...asset,
  path: hashedPath(asset),
  isImmutable: true,
}));
const files = [await page(assets), ...assets];
const compressed = files.reduce((sum, file) => sum + gzipSync(file.bytes).length, 0);
if (compressed > kBudgetBytes) {
  throw new Error(
    `the dashboard takes ${compressed} bytes compressed; ${kBudgetBytes} are allowed`,
  );
}
await rm(outdir, { recursive: true, force: true });
for (const file of files) {
  const target = path.join(outdir, file.path);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, file.bytes);
}
if (options.embed) await writeFile(options.embed, cppSource(files));
console.log(`web: ${files.length} files, ${(compressed / 1024).toFixed(1)} KiB compressed`);
