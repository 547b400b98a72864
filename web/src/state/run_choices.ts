// What the filters can be set to: the values that the runs have, and those of runs seen since. One
// for all pages: whoever asks, each of them offers what was learnt.
import { signal } from "@preact/signals";
import { fetchChoices } from "../api/client";
import type { Run } from "../api/types";
import { formatWorkload } from "../format";
import { learnClusterNames, learnClusters } from "./clusters";
import { kChoiceKeys, type ChoiceKey } from "./list_state";
import { filterValue } from "./matches_filters";

const kAfterRowsMs = 500; // the rows come first

// A workload has one name, whatever its logs call it.
const nameOf = (key: ChoiceKey, value: string) =>
  key === "workload" ? formatWorkload(value) : value;

// Of the clusters, `clusters` knows.
type LearntKey = Exclude<ChoiceKey, "cluster">;
const kLearntKeys = kChoiceKeys.filter((key): key is LearntKey => key !== "cluster");

type Choices = Record<LearntKey, string[]> & {
  cut: readonly string[]; // the keys of which runs have more values
};

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

let areAllLearnt = false; // or asked for

// Of all runs, each time that a page without a list of them is come to: there may be others since.
export async function askRunChoices(): Promise<void> {
  areAllLearnt = true;
  try {
    const all = await fetchChoices();
    learnClusterNames(all.cluster);
    learn((key) => all[key].map(String));
    runChoices.value = { ...runChoices.peek(), cut: all.cut };
  } catch {
    areAllLearnt = false; // the next load, and the next page, try again
  }
}

// For a list, which sees by itself what comes later: unless they are known.
export function askRunChoicesOnce(): void {
  if (areAllLearnt) return;
  areAllLearnt = true;
  setTimeout(() => void askRunChoices(), kAfterRowsMs);
}

// Events were missed, and what they told of.
export function doubtRunChoices(): void {
  areAllLearnt = false;
}

export function learnRunChoices(runs: readonly Run[]): void {
  learnClusters(runs);
  learn((key) => runs.map((run) => filterValue(run, key)));
}

function learn(valuesOf: (key: LearntKey) => readonly (string | null)[]): void {
  const before = runChoices.peek();
  const after = { ...before };
  let isNew = false;
  for (const key of kLearntKeys) {
    const values = new Set(before[key]);
    const names = new Set(before[key].map((value) => nameOf(key, value)));
    for (const value of valuesOf(key)) {
      if (!value || names.has(nameOf(key, value))) continue;
      values.add(value);
      names.add(nameOf(key, value));
    }
    if (values.size === before[key].length) continue;
    after[key] = [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    isNew = true;
  }
  if (isNew) runChoices.value = after;
}
