// What a page can filter runs by without a list of them: the values that runs had when the first
// page asked.
import { signal } from "@preact/signals";
import { fetchChoices } from "../api/client";
import { learnClusterNames } from "./clusters";
import type { Choices } from "./run_list";

export const runChoices = signal<Choices>({
  workload: [],
  model_size: [],
  dtype: [],
  gpu_type: [],
  gpu_count: [],
  release: [],
  failure_cause: [],
  cut: [],
});

export async function askRunChoices(): Promise<void> {
  try {
    const { cluster, ...all } = await fetchChoices();
    learnClusterNames(cluster);
    runChoices.value = { ...all, gpu_count: all.gpu_count.map(String) };
  } catch {
    // The page shows why the server gives no answer; its filters are asked for again with the next.
  }
}
