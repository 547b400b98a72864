// However many pages of a browser are open, the server has one event stream of it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Complaints } from "./browser.mjs";
import { Daemon, until } from "./daemon.mjs";
import { NemoLog } from "./logs.mjs";
import { browser } from "./started_browser.mjs";

const kSoonMs = 120_000;
const kGoneWithinMs = 120_000; // the server sees at its next heartbeat that a browser left

describe("the pages of one browser", () => {
  // Of its own, so that nobody else has a stream of it.
  const withLog = async (body) => {
    const daemon = await Daemon.make();
    try {
      const log = new NemoLog(daemon.tree, { gpus: 384, jobId: 61001, launchedAt: 1800000000 });
      log.growTo(20);
      await daemon.start();
      const { runs } = await daemon.get("/api/v1/runs");
      await body(daemon, log, `${daemon.url}/runs/${runs[0].id}`);
    } finally {
      await daemon.remove();
    }
  };

  const streams = async (daemon) => {
    const text = await (await fetch(`${daemon.url}/metrics`)).text();
    return Number(/^llmb_http_event_streams_open (\d+)$/m.exec(text)[1]);
  };

  const openPage = async (context, url) => {
    const page = await context.newPage();
    page.setDefaultTimeout(180_000);
    const complaints = new Complaints(page);
    await page.goto(url);
    await page.locator(".connection-live").waitFor();
    return { page, complaints };
  };

  const shows = ({ page }, count, withinMs = kSoonMs) =>
    page.getByText(`Table of ${count} steps`).waitFor({ timeout: withinMs });

  test("share a stream, and the next takes it over when one closes", async () => {
    await withLog(async (daemon, log, url) => {
      const context = await browser.newContext();
      try {
        const first = await openPage(context, url);
        const second = await openPage(context, url);
        await shows(first, 21);
        await shows(second, 21);
        assert.equal(await streams(daemon), 1);
        log.growTo(25);
        await shows(first, 26);
        await shows(second, 26);
        log.growTo(27); // the third comes with this on its way, and has it all the same
        const third = await openPage(context, url);
        await shows(third, 28);
        assert.equal(await streams(daemon), 1);
        await first.page.close();
        log.growTo(30);
        await shows(second, 31);
        await shows(third, 31);
        await until("one stream again", async () => (await streams(daemon)) === 1, kGoneWithinMs);
        log.growTo(33);
        await shows(third, 34);
        await second.page.close();
        log.growTo(36);
        await shows(third, 37);
        await until("one stream still", async () => (await streams(daemon)) === 1, kGoneWithinMs);
        await third.page.close();
        await until("none", async () => (await streams(daemon)) === 0, kGoneWithinMs);
        for (const { complaints } of [first, second, third]) assert.deepEqual(complaints.list, []);
      } finally {
        await context.close();
      }
    });
  });

  test("have a stream each where the browser has no locks, as over plain HTTP", async () => {
    await withLog(async (daemon, log, url) => {
      const context = await browser.newContext();
      await context.addInitScript(() => {
        delete Object.getPrototypeOf(navigator).locks;
      });
      try {
        const pages = [await openPage(context, url), await openPage(context, url)];
        await until("two streams", async () => (await streams(daemon)) === 2);
        log.growTo(25);
        for (const page of pages) await shows(page, 26);
        for (const { complaints } of pages) assert.deepEqual(complaints.list, []);
      } finally {
        await context.close();
      }
    });
  });

  test("all say that the stream broke, and that it is there again", async () => {
    await withLog(async (daemon, log, url) => {
      const context = await browser.newContext();
      try {
        const pages = [await openPage(context, url), await openPage(context, url)];
        await daemon.stop();
        for (const { page } of pages) await page.locator(".connection-lost").waitFor();
        log.growTo(25);
        await daemon.start();
        for (const { page } of pages) {
          await page.locator(".connection-live").waitFor();
        }
        for (const page of pages) await shows(page, 26);
        assert.equal(await streams(daemon), 1);
      } finally {
        await context.close();
      }
    });
  });
});
