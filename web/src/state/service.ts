// How the service itself is doing, and what time it is: asked for every few seconds, for the
// banner, the footer and every "12 s ago", and only while the page is visible.
import { batch, signal } from "@preact/signals";
import { asProblem, fetchRoots, fetchStatus, type Problem } from "../api/client";
import type { RootList, Status } from "../api/types";

const kEveryMs = 10_000;

interface Unanswered {
  since: string; // the instant of the first question that was not answered
  problem: Problem; // of the last one
}

export const service = signal<Status | null>(null);
export const rootList = signal<RootList | null>(null);
export const unanswered = signal<Unanswered | null>(null); // null: the last answer came
export const nowMs = signal(Date.now());

export async function refreshService(): Promise<void> {
  nowMs.value = Date.now();
  try {
    const [status, roots] = await Promise.all([fetchStatus(), fetchRoots()]);
    batch(() => {
      service.value = status;
      rootList.value = roots;
      unanswered.value = null;
    });
  } catch (error) {
    const since = unanswered.value?.since ?? new Date(nowMs.value).toISOString();
    batch(() => {
      service.value = null; // the lists report what is wrong; the footer falls silent
      unanswered.value = { since, problem: asProblem(error) };
    });
  }
}

export function startService(): void {
  void refreshService();
  setInterval(() => {
    if (document.visibilityState === "visible") void refreshService();
  }, kEveryMs);
}
