// The clusters whose runs a page can be narrowed to, alike on every page and whatever is chosen
// there: those that roots are named by, those that runs name, and those answered of since.
import { computed, signal } from "@preact/signals";
import { fetchChoices } from "../api/client";
import { clusterNames, type OfCluster } from "../cluster_words";
import { rootList } from "./service";

const learnt = signal<readonly OfCluster[]>([]);

export const clusters = computed(() =>
  clusterNames([...(rootList.value?.roots ?? []), ...learnt.value]),
);

// An answer about one cluster says nothing of the others: what was learnt before it stays.
export function learnClusters(all: readonly OfCluster[]): void {
  const before = learnt.peek();
  const after = clusterNames([...before, ...all]);
  if (after.length > before.length) learnt.value = after.map((cluster) => ({ cluster }));
}

export function learnClusterNames(names: readonly string[]): void {
  learnClusters(names.map((cluster) => ({ cluster })));
}

let isAsked = false;
const areAllLearnt = signal(false); // that runs name

// Whether no run and no tree is of it; false until that is known.
export const isUnknownCluster = (name: string) =>
  name !== "" &&
  areAllLearnt.value &&
  rootList.value !== null &&
  !clusters.value.includes(name);

// Those that no root is named by are known from the runs alone. Once in the life of a page.
export async function askClusters(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    const { cluster, cut } = await fetchChoices();
    learnClusterNames(cluster);
    areAllLearnt.value = !cut.includes("cluster");
  } catch {
    isAsked = false; // the next page with a choice tries again
  }
}
