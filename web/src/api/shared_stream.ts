// One event stream for all pages of a browser. The page that holds a lock has the server's stream,
// and passes what comes on to the others; when it closes, or nobody sees it any more, the lock goes
// to the next one. Browsers give locks to pages over https and on the machine itself only: elsewhere
// each page has a stream of its own.
import type { Stream } from "./live";

// What this file needs of the browser, so that a test can bring its own.
export interface Sharing {
  open: () => Stream; // the server's
  channel: () => Channel;
  // Holds the lock from when `held` is called until its promise is done.
  lock: (held: () => Promise<void>, abort: AbortSignal) => Promise<void>;
}

export interface Channel {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
  close(): void;
}

// `opening` tells an open stream from the one that was open before: after a break all is reloaded.
type Message =
  | { kind: "who" } // a page came, and asks how the stream stands
  | { kind: "open"; opening: string }
  | { kind: "broken" }
  | { kind: "event"; type: string; data: string };

const kConnecting = 0;
const kOpen = 1;
const kClosed = 2;
const kEvents = ["run", "job", "reset"];

export class SharedStream implements Stream {
  readyState = kConnecting;
  private readonly listeners = new Map<string, ((event: MessageEvent<string>) => void)[]>();
  private readonly channel: Channel;
  private readonly abort = new AbortController();
  private source: Stream | null = null; // of the page that has it
  private opening: string | null = null; // null: not open
  private release: () => void = () => {};

  constructor(private readonly sharing: Sharing) {
    this.channel = sharing.channel();
    this.channel.onmessage = ({ data }) => this.hear(data as Message);
    this.say({ kind: "who" });
    const held = () => new Promise<void>((release) => this.lead(release));
    // Where the browser refuses the lock, the page goes alone.
    sharing.lock(held, this.abort.signal).catch(() => this.lead(() => {}));
  }

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }

  close(): void {
    this.readyState = kClosed;
    this.source?.close();
    this.channel.close();
    this.abort.abort();
    this.release();
  }

  private lead(release: () => void): void {
    if (this.readyState === kClosed) {
      release();
      return;
    }
    this.release = release;
    const source = this.sharing.open();
    this.source = source;
    this.opening = null;
    source.addEventListener("open", () => {
      this.say({ kind: "open", opening: this.become(String(Math.random())) });
    });
    for (const type of kEvents) {
      source.addEventListener(type, ({ data }) => {
        this.say({ kind: "event", type, data });
        this.emit(type, data);
      });
    }
    source.addEventListener("error", () => {
      this.say({ kind: "broken" });
      this.breakOff(source.readyState);
    });
  }

  private hear(message: Message): void {
    if (this.source) {
      if (message.kind === "who" && this.opening !== null) {
        this.say({ kind: "open", opening: this.opening });
      }
      return;
    }
    if (message.kind === "open" && message.opening !== this.opening) this.become(message.opening);
    if (message.kind === "broken") this.breakOff(kConnecting); // who has the stream tries again
    if (message.kind === "event") this.emit(message.type, message.data);
  }

  private become(opening: string): string {
    this.opening = opening;
    this.readyState = kOpen;
    this.emit("open");
    return opening;
  }

  private breakOff(readyState: number): void {
    this.opening = null;
    this.readyState = readyState;
    this.emit("error");
  }

  private say(message: Message): void {
    this.channel.postMessage(message);
  }

  private emit(type: string, data = ""): void {
    for (const listener of this.listeners.get(type) ?? []) listener({ data } as MessageEvent<string>);
  }
}

const kName = "llmb-report events";

// A stream begins with what changed so shortly before: the page's first questions were answered
// before it was there.
export const kRecentMs = 2_000;

export function openStream(): Stream {
  const open = () => new EventSource(`/api/v1/events?recent_ms=${kRecentMs}`);
  if (!("locks" in navigator) || typeof BroadcastChannel === "undefined") return open();
  return new SharedStream({
    open,
    channel: () => new BroadcastChannel(kName),
    lock: async (held, signal) => {
      await navigator.locks.request(kName, { signal }, held);
    },
  });
}
