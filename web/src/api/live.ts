// The stream of changes that the whole page listens to. The browser reconnects a stream that broke;
// one that the server refused is opened anew here, more and more slowly.
import { signal } from "@preact/signals";
import { kRecentMs, openStream } from "./shared_stream";
import type { JobChange, RunChange } from "./types";

export type Connection = "connecting" | "live" | "lost";

export interface LiveListener {
  onRun(change: RunChange): void;
  onJob?(change: JobChange): void;
  // Events were lost: what is shown may be stale throughout.
  onReset(): void;
}

// What this file needs of EventSource, so that a test can bring its own.
export interface Stream {
  readyState: number;
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

const kClosed = 2;
const kRetryMinMs = 1_000;
const kRetryMaxMs = 30_000;
const kSoonMs = kRecentMs / 2; // after which the stream's beginning may lack what was missed

export class Live {
  readonly connection = signal<Connection>("connecting");
  private listeners = new Set<LiveListener>();
  private stream: Stream | null = null;
  private retryMs = kRetryMinMs;
  private readonly beganAtMs: number; // when the page asked its first questions
  private hasMissed = false; // of the changes: the stream was open before, or broke

  constructor(
    private readonly open: () => Stream,
    private readonly later: (action: () => void, delayMs: number) => void = (action, delayMs) => {
      setTimeout(action, delayMs);
    },
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.beganAtMs = clock();
  }

  listen(listener: LiveListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  start(): void {
    this.stop();
    const stream = this.open();
    this.stream = stream;
    stream.addEventListener("open", () => {
      this.connection.value = "live";
      this.retryMs = kRetryMinMs;
      // Last-Event-ID is no help where no event had come yet, or the server is another one.
      if (this.hasMissed || this.clock() - this.beganAtMs > kSoonMs) this.reset();
      this.hasMissed = true;
    });
    stream.addEventListener("run", (event) => {
      const change = parseChange(event.data);
      if (change) for (const listener of [...this.listeners]) listener.onRun(change);
    });
    stream.addEventListener("job", (event) => {
      const change = parseJobChange(event.data);
      if (change) for (const listener of [...this.listeners]) listener.onJob?.(change);
    });
    stream.addEventListener("reset", () => this.reset());
    stream.addEventListener("error", () => {
      this.connection.value = "lost";
      this.hasMissed = true;
      if (stream.readyState !== kClosed) return; // the browser tries again
      this.later(() => {
        if (this.stream === stream) this.start();
      }, this.retryMs);
      this.retryMs = Math.min(this.retryMs * 2, kRetryMaxMs);
    });
  }

  stop(): void {
    this.stream?.close();
    this.stream = null;
    this.connection.value = "connecting";
  }

  private reset(): void {
    for (const listener of [...this.listeners]) listener.onReset();
  }
}

export function parseChange(data: string): RunChange | null {
  try {
    const change = JSON.parse(data) as RunChange;
    return Number.isInteger(change.run_id) && typeof change.kind === "string" ? change : null;
  } catch {
    return null;
  }
}

export function parseJobChange(data: string): JobChange | null {
  try {
    const change = JSON.parse(data) as JobChange;
    return Number.isInteger(change.job) && typeof change.state === "string" ? change : null;
  } catch {
    return null;
  }
}

export const live = new Live(openStream);

// A browser keeps six connections to one server over HTTP/1.1, for all tabs together: a page that
// nobody sees listens to none, and reloads what it shows when it is seen again.
export function startLive(): void {
  const follow = () => {
    if (document.visibilityState === "visible") live.start();
    else live.stop();
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}
