// The workloads of all runs, for a page whose answer, once it is narrowed to one, names no other.
import { signal } from "@preact/signals";
import { fetchChoices } from "../api/client";

export const workloads = signal<readonly string[]>([]);

// Each time that a page with a choice is come to: runs of another may have come since.
export async function askWorkloads(): Promise<void> {
  try {
    workloads.value = (await fetchChoices()).workload;
  } catch {
    // The page says itself that the server gives no answer; the next one tries again.
  }
}
