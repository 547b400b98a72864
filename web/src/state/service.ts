// How the service itself is doing, and what time it is: asked for every few seconds, for the
// banner, the footer and every "12 s ago", and only while the page is visible.
import { batch, computed, signal } from "@preact/signals";
import { asProblem, fetchRoots, fetchStatus, type Problem } from "../api/client";
import { live } from "../api/live";
import type { RootList, Status } from "../api/types";

const kEveryMs = 10_000;
const kEndingMs = 2_000; // a server that ends closes its streams first, and answers a little longer

interface Unanswered {
  since: string; // the instant of the first question that was not answered
  problem: Problem; // of the last one
}

export const service = signal<Status | null>(null); // what it told last; null before that
export const rootList = signal<RootList | null>(null);
export const unanswered = signal<Unanswered | null>(null); // null: the last answer came
export const hereMs = signal(Date.now()); // by this machine's clock
// What is known of how far the server's is ahead, which dates all that it tells of.
const aheadMs = signal(0);
export const nowMs = computed(() => hereMs.value + aheadMs.value);

const kClocksAgreeMs = 3_000; // what an answer's way and its whole seconds make

function learnTime(toldAtMs: number): void {
  const ahead = toldAtMs - Date.now();
  if (Math.abs(ahead - aheadMs.value) > kClocksAgreeMs) aheadMs.value = ahead;
}

let isAsking = false;

// Nothing is asked while the question before is unanswered.
export async function refreshService(): Promise<void> {
  hereMs.value = Date.now();
  if (isAsking) return;
  isAsking = true;
  const askedAt = new Date(nowMs.value).toISOString();
  try {
    const told = fetchStatus().then(({ status, toldAtMs }) => {
      learnTime(toldAtMs);
      return status;
    });
    const [status, roots] = await Promise.all([told, fetchRoots()]);
    batch(() => {
      service.value = status;
      rootList.value = roots;
      unanswered.value = null;
    });
  } catch (error) {
    const since = unanswered.value?.since ?? askedAt;
    unanswered.value = { since, problem: asProblem(error) };
  } finally {
    isAsking = false;
  }
}

// At once, too, when the stream of changes breaks or is there again, and when the page is seen
// again: what was told last may no longer be so.
export function startService(): void {
  void refreshService();
  const ask = () => {
    if (document.visibilityState === "visible") void refreshService();
  };
  live.connection.subscribe((connection) => {
    if (connection === "lost") setTimeout(ask, kEndingMs);
    if (connection === "lost" || unanswered.peek()) ask();
  });
  document.addEventListener("visibilitychange", ask);
  setInterval(ask, kEveryMs);
}
