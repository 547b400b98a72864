// Both themes, held to WCAG 2.2 AA: 4.5:1 for text, 3:1 for marks and the edges of controls.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Theme = Map<string, string>;

// npm runs the tests in web/.
const sheet = readFileSync("src/styles/base.css", "utf8");

function coloursOf(block: string): Theme {
  const found = block.matchAll(/--([a-z0-9-]+):\s*(#[0-9a-f]{6});/g);
  return new Map([...found].map((match) => [match[1] ?? "", match[2] ?? ""]));
}

const [lightBlock = "", darkBlock = ""] = [...sheet.matchAll(/:root(?::not\(\.is-printed\))? \{([^}]*)\}/g)].map(
  (match) => match[1] ?? "",
);
const light = coloursOf(lightBlock);
const dark: Theme = new Map([...light, ...coloursOf(darkBlock)]);

const series = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => `series-${at}`);

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (parts[0] ?? 0) + 0.7152 * (parts[1] ?? 0) + 0.0722 * (parts[2] ?? 0);
}

function ratio(a: string, b: string): number {
  const [dim = 0, bright = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dim + 0.05);
}

function assertRatio(theme: Theme, name: string, ground: string, least: number): void {
  const [front, back] = [theme.get(name), theme.get(ground)];
  assert.ok(front && back, `--${name} or --${ground} is not in the sheet`);
  const found = ratio(front, back);
  assert.ok(found >= least, `--${name} on --${ground}: ${found.toFixed(2)}`);
}

test("the sheet holds two themes", () => {
  assert.ok(light.size > 15);
  assert.notEqual(light.get("ground"), dark.get("ground"));
});

for (const [themeName, theme] of [
  ["light", light],
  ["dark", dark],
] as const) {
  test(`text is readable (${themeName})`, () => {
    const texts = ["text", "text-muted", "accent", "ok", "run", "warn", "bad", "odd"];
    for (const text of texts) {
      for (const ground of ["ground", "surface", "surface-sunk"]) {
        assertRatio(theme, text, ground, 4.5);
      }
    }
    assertRatio(theme, "accent-text", "accent", 4.5);
  });

  test(`marks and edges can be seen (${themeName})`, () => {
    const marks = [
      "rule-strong",
      "focus",
      "chart-time",
      "chart-flops",
      "chart-lesser",
      "segment-other",
      ...series,
    ];
    for (const mark of marks) {
      for (const ground of ["ground", "surface"]) assertRatio(theme, mark, ground, 3);
    }
  });
}
