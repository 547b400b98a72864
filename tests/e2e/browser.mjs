// A Chromium whose pages may not complain: console errors, failed requests, error responses and
// breaches of the content security policy are gathered, and a test that ends with any has failed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));

export const kChromium = process.env.LLMB_CHROMIUM ?? "/usr/bin/chromium";

// Why the tests cannot run here; empty when they can.
export function missing() {
  if (!existsSync(kChromium)) return `there is no browser at ${kChromium}`;
  if (!process.env.LLMB_REPORT_BIN) return "LLMB_REPORT_BIN does not name the program to test";
  try {
    require.resolve("playwright-core");
    return "";
  } catch {
    return "web/node_modules is not installed; build llmb_web first";
  }
}

export function launch() {
  const { chromium } = require("playwright-core");
  return chromium.launch({
    executablePath: kChromium,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// What a page complained about, apart from what the test expects.
export class Complaints {
  #all = [];
  #expected = [];

  constructor(page) {
    page.on("console", (message) => {
      if (message.type() === "error") this.#all.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.#all.push(`exception: ${error.message}`));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      // The page itself gives up requests that a newer one replaces, or that it leaves behind.
      if (reason !== "net::ERR_ABORTED") this.#all.push(`request: ${request.url()} ${reason}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) {
        this.#all.push(`response: ${response.url()} ${response.status()}`);
      }
    });
  }

  // Holds for what comes later, too: the browser tells of a failed request after the page shows it.
  expect(pattern) {
    this.#expected.push(pattern);
  }

  get list() {
    return this.#all.filter((one) => !this.#expected.some((pattern) => pattern.test(one)));
  }
}

// The page's requests that are not answered yet; its event stream never ends.
const unanswered = new WeakMap();
export const isAnswered = (page) => unanswered.get(page).size === 0;

function followRequests(page) {
  const open = new Set();
  unanswered.set(page, open);
  page.on("request", (request) => request.url().includes("/events") || open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
}

// Of a program: what fails every test would otherwise wait for its limit in each of them, and the
// test runner would end it before it has said which they were.
const kFailuresMax = 5;
let failures = 0;

// Runs `body` with a fresh page at `path`; fails on any complaint that the body did not expect.
export async function withPage(browser, url, options, body) {
  if (failures >= kFailuresMax) throw new Error(`not tried: ${failures} tests failed before it`);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  followRequests(page);
  const complaints = new Complaints(page);
  await page.addInitScript(() => {
    window.breaches = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.breaches.push(`${event.violatedDirective}: ${event.blockedURI}`);
    });
  });
  try {
    const response = await page.goto(url);
    const policy = response.headers()["content-security-policy"] ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    await body(page, complaints);
    assert.deepEqual(await page.evaluate(() => window.breaches), []);
    assert.deepEqual(complaints.list, []);
  } catch (error) {
    failures += 1;
    throw error;
  } finally {
    // What is on its way through a route ends with the page, and is no failure of the test's.
    await page.unrouteAll({ behavior: "ignoreErrors" }).catch(() => {});
    await context.close();
  }
}
