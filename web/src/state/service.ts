// How the service itself is doing, and what time it is: asked for every few seconds, for the
// banner, the footer and every "12 s ago", and only while the page is visible.
import { signal } from "@preact/signals";
import { fetchRoots, fetchStatus } from "../api/client";
import type { RootList, Status } from "../api/types";

const kEveryMs = 10_000;

export const service = signal<Status | null>(null);
export const rootList = signal<RootList | null>(null);
export const nowMs = signal(Date.now());

export async function refreshService(): Promise<void> {
  nowMs.value = Date.now();
  try {
    const [status, roots] = await Promise.all([fetchStatus(), fetchRoots()]);
    service.value = status;
    rootList.value = roots;
  } catch {
    service.value = null; // the lists report what is wrong; the footer falls silent
  }
}

export function startService(): void {
  void refreshService();
  setInterval(() => {
    if (document.visibilityState === "visible") void refreshService();
  }, kEveryMs);
}
