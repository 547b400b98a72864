// Which clusters the choice of every page offers.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RootList, Run } from "../../web/src/api/types";
import { clusterKey, clusterNames, clusterWords, kNoCluster } from "../../web/src/cluster_words";
import { kChoiceWords } from "../../web/src/filter_words";
import { askBoard } from "../../web/src/state/board_clusters";
import { askClusters, clusters, isUnknownCluster } from "../../web/src/state/clusters";
import { readListState } from "../../web/src/state/list_state";
import { matchesFilters } from "../../web/src/state/matches_filters";
import { rootList } from "../../web/src/state/service";
import { joined, measured, reference } from "./board_answers";

const kRoots = { roots: [{ cluster: "zeta" }, { cluster: null }] } as unknown as RootList;

function boardOf(chosen: string, scaling: ReturnType<typeof measured>): Promise<unknown> {
  return askBoard(chosen, new AbortController().signal, {
    references: async () => ({ references: [reference({})] }),
    scaling: async () => scaling,
    roots: async () => kRoots,
  });
}

test("each cluster is named once, in order", () => {
  const named = ["c10", null, "c9", "c10"].map((cluster) => ({ cluster }));
  assert.deepEqual(clusterNames(named), ["c9", "c10"]);
});

test("a run says its cluster, or that nobody named it where others are named", () => {
  assert.equal(clusterWords({ cluster: "alpha" }, []), "alpha");
  assert.equal(clusterWords({ cluster: null }, ["alpha"]), kNoCluster);
  assert.equal(clusterWords({ cluster: null }, []), null);
});

test("the filter by cluster asks for runs that name none by a word of its own", () => {
  assert.deepEqual(["alpha", kNoCluster, null].map(clusterKey), ["alpha", "none", "none"]);
  assert.equal(kChoiceWords.cluster(clusterKey(null)), kNoCluster);
  const state = readListState(new URLSearchParams({ cluster: clusterKey(kNoCluster) }));
  const run = { status: "running", is_superseded: false, marks: [] as unknown } as Run;
  assert.equal(matchesFilters({ ...run, cluster: null }, state), true);
  assert.equal(matchesFilters({ ...run, cluster: "alpha" }, state), false);
});

test("a page that opens with one cluster chosen offers the others, of roots and runs", async () => {
  const asked: string[] = [];
  globalThis.fetch = (async (input: unknown) => {
    asked.push(String(input));
    if (asked.length === 1) throw new TypeError("fetch failed");
    return new Response(JSON.stringify({ cluster: ["alpha", "delta"], cut: [] }), { status: 200 });
  }) as typeof fetch;
  rootList.value = kRoots;
  await askClusters();
  assert.deepEqual(clusters.value, ["zeta"]);
  assert.equal(isUnknownCluster("alpha"), false, "not before all are known");
  await askClusters();
  await askClusters();
  assert.deepEqual(asked, ["/api/v1/choices", "/api/v1/choices"]);
  assert.deepEqual(clusters.value, ["alpha", "delta", "zeta"]);
  assert.deepEqual(["alpha", "zeta", "alhpa", ""].filter(isUnknownCluster), ["alhpa"]);
});

test("choosing a cluster takes no other one away", async () => {
  await boardOf("", joined(measured("bf16", 1, "alpha"), measured("fp8", 2, "beta")));
  const before = clusters.value;
  assert.ok(before.includes("alpha") && before.includes("beta"));
  await boardOf("alpha", measured("bf16", 1, "alpha"));
  assert.deepEqual(clusters.value, before);
});
