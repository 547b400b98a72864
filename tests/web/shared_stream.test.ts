// One event stream for all pages of a browser: who has it, what the others hear, who is next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Live, type Stream } from "../../web/src/api/live";
import { SharedStream, type Channel } from "../../web/src/api/shared_stream";

class ServerStream implements Stream {
  readyState = 0;
  private listeners = new Map<string, ((event: MessageEvent<string>) => void)[]>();
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }
  emit(type: string, data = ""): void {
    if (type === "open") this.readyState = 1;
    for (const listener of this.listeners.get(type) ?? []) {
      listener({ data } as MessageEvent<string>);
    }
  }
  close(): void {
    this.readyState = 2;
  }
}

// A browser whose pages share one lock and one channel.
class Browser {
  readonly streams: ServerStream[] = [];
  refusesLocks = false;
  private channels = new Set<Channel>();
  private waiting: (() => Promise<void>)[] = [];
  private isHeld = false;

  get open() {
    return this.streams.filter(({ readyState }) => readyState !== 2);
  }

  page() {
    const heard: string[] = [];
    const timers: (() => void)[] = [];
    const live = new Live(
      () => new SharedStream({ open: this.serve, channel: this.channel, lock: this.lock }),
      (action) => timers.push(action),
    );
    live.listen({
      onRun: ({ run_id }) => heard.push(`run ${run_id}`),
      onReset: () => heard.push("reset"),
    });
    live.start();
    return { live, heard, timers };
  }

  private serve = (): Stream => {
    const stream = new ServerStream();
    this.streams.push(stream);
    return stream;
  };
  private channel = (): Channel => {
    const { channels } = this;
    const channel: Channel = {
      onmessage: null,
      postMessage: (data) => {
        assert.ok(channels.has(channel), "nothing is said on a closed channel");
        const message = structuredClone(data);
        for (const other of [...channels]) {
          if (other === channel) continue;
          queueMicrotask(() => other.onmessage?.({ data: message } as MessageEvent));
        }
      },
      close: () => channels.delete(channel),
    };
    channels.add(channel);
    return channel;
  };
  private lock = (held: () => Promise<void>, abort: AbortSignal): Promise<void> => {
    if (this.refusesLocks) return Promise.reject(new Error("not here"));
    return new Promise((resolve, reject) => {
      const take = () => held().then(resolve);
      this.waiting.push(take);
      abort.addEventListener("abort", () => {
        this.waiting = this.waiting.filter((each) => each !== take);
        reject(new Error("aborted"));
      });
      this.pass();
    });
  };
  private pass() {
    if (this.isHeld) return;
    const next = this.waiting.shift();
    if (!next) return;
    this.isHeld = true;
    void next().then(() => {
      this.isHeld = false;
      this.pass();
    });
  }
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 5));

test("of several pages one has the stream, and all hear what comes", async () => {
  const browser = new Browser();
  const first = browser.page();
  const second = browser.page();
  browser.streams[0]?.emit("open");
  const late = browser.page();
  await turns();
  assert.equal(browser.open.length, 1);
  browser.streams[0]?.emit("run", '{"run_id":7,"kind":"grown"}');
  browser.streams[0]?.emit("reset", "{}");
  await turns();
  for (const page of [first, second, late]) {
    assert.equal(page.live.connection.value, "live");
    assert.deepEqual(page.heard, ["run 7", "reset"]);
  }
});

test("when the page that has it closes, the next takes it, and what was missed is loaded", async () => {
  const browser = new Browser();
  const pages = [browser.page(), browser.page(), browser.page()];
  browser.streams[0]?.emit("open");
  await turns();
  pages[0]?.live.stop();
  await turns();
  assert.equal(browser.open.length, 1);
  browser.streams[1]?.emit("open");
  browser.streams[1]?.emit("run", '{"run_id":8,"kind":"grown"}');
  await turns();
  assert.deepEqual(pages.map(({ heard }) => heard), [[], ["reset", "run 8"], ["reset", "run 8"]]);
  pages[1]?.live.stop();
  pages[2]?.live.stop();
  await turns();
  assert.equal(browser.open.length, 0);
});

test("a page that waits and closes takes no stream", async () => {
  const browser = new Browser();
  const [first, second] = [browser.page(), browser.page()];
  second?.live.stop();
  first?.live.stop();
  await turns();
  assert.equal(browser.streams.length, 1);
  assert.equal(browser.open.length, 0);
});

test("a break is known to all, and one page tries again", async () => {
  const browser = new Browser();
  const [first, second] = [browser.page(), browser.page()];
  const [stream] = browser.streams;
  assert.ok(stream && first && second);
  stream.emit("open");
  stream.readyState = 0;
  stream.emit("error");
  await turns();
  assert.deepEqual([first, second].map(({ live }) => live.connection.value), ["lost", "lost"]);
  stream.emit("open");
  await turns();
  assert.deepEqual([first, second].map(({ heard }) => heard), [["reset"], ["reset"]]);
  stream.readyState = 2; // the server refused it
  stream.emit("error");
  assert.equal(second.timers.length, 0);
  first.timers[0]?.();
  await turns();
  assert.equal(browser.open.length, 1);
  browser.streams[1]?.emit("open");
  await turns();
  assert.deepEqual([first, second].map(({ live }) => live.connection.value), ["live", "live"]);
});

test("where the browser refuses the lock each page has its own", async () => {
  const browser = new Browser();
  browser.refusesLocks = true;
  const pages = [browser.page(), browser.page()];
  await turns();
  assert.equal(browser.open.length, 2);
  for (const stream of browser.streams) stream.emit("open");
  browser.streams[0]?.emit("run", '{"run_id":7,"kind":"grown"}');
  await turns();
  assert.deepEqual(pages.map(({ heard }) => heard), [["run 7"], []]);
});
