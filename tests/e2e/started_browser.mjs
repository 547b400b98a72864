// The browser of a file of tests. Importing it starts one before them and ends it behind them, and
// skips them all where they cannot run.
import { after, before } from "node:test";
import { launch, missing } from "./browser.mjs";

const reason = missing();
if (reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

export let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());
