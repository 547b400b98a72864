// What axe finds on a page, and the looks in which every page is given to it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const kLooks = [
  { width: 360, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
  { width: 2560, colorScheme: "light" },
];

// The script is evaluated by the test, past the page's content security policy.
export async function violations(page) {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map((node) => node.target.join(" "))
        .slice(0, 4)
        .join(", ")}`,
  );
}
