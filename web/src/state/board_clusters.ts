// What the board asks the API: the published results, and what the runs amount to, each cluster by
// itself where there are several.
import { fetchHistory, fetchReferences, fetchRoots, fetchScaling } from "../api/client";
import type { History, Reference, RootList, Scaling } from "../api/types";
import { kBoardInclude, kRunsNamed, launchTimes, type ClusterAnswer } from "./board";
import { clusterNames, kNoCluster } from "../cluster_words";
import { learnClusters } from "./clusters";
import { rootList } from "./service";

// Each is a board of its own to read.
const kClustersTogether = 12;

export interface BoardAnswers {
  references: Reference[];
  // One, or one for each cluster; none where there are too many to show together.
  answers: ClusterAnswer[];
  clusters: string[]; // that these runs and the trees are of, or the chosen one
  launchedAt: Map<number, string>; // of the runs that the board names
  olderRuns: number;
}

type Ask<T> = (abort: AbortSignal) => Promise<T>;

export interface Asked {
  references: Ask<{ references: Reference[] }>;
  scaling: (cluster: string | null, abort: AbortSignal) => Promise<Scaling>;
  roots: Ask<RootList>;
}

export const kApi: Asked = {
  references: (abort) => fetchReferences(abort),
  scaling(cluster, abort) {
    const query = new URLSearchParams(cluster === null ? {} : { cluster });
    query.set("runs_max", String(kRunsNamed));
    query.set("include", kBoardInclude);
    return fetchScaling(query, abort);
  },
  roots: async () => rootList.value ?? (await fetchRoots()),
};

// Of the runs of several clusters what each has, and those that name none.
function answersOf(all: Scaling, clusters: readonly string[]): ClusterAnswer[] {
  const seriesOf = (name: string | null) => all.series.filter(({ cluster }) => cluster === name);
  const open = seriesOf(null);
  if (clusters.length + Math.min(open.length, 1) < 2) return [{ cluster: null, scaling: all }];
  if (clusters.length > kClustersTogether) return [];
  const answers: ClusterAnswer[] = clusters.map((cluster) => ({
    cluster,
    scaling: { ...all, series: seriesOf(cluster) },
  }));
  if (open.length > 0) answers.push({ cluster: kNoCluster, scaling: { ...all, series: open } });
  return answers;
}

// `chosen`: the name of a cluster, or empty for all.
export async function askBoard(
  chosen: string,
  abort: AbortSignal,
  asked: Asked = kApi,
): Promise<BoardAnswers> {
  const [{ references }, scaling, { roots }] = await Promise.all([
    asked.references(abort),
    asked.scaling(chosen || null, abort),
    asked.roots(abort),
  ]);
  learnClusters(scaling.series);
  // Those of trees that hold no run yet, too.
  const clusters = chosen ? [chosen] : clusterNames([...roots, ...scaling.series]);
  const answers = chosen ? [{ cluster: chosen, scaling }] : answersOf(scaling, clusters);
  const launchedAt = new Map(answers.flatMap((answer) => [...launchTimes(answer.scaling)]));
  return { references, answers, clusters, launchedAt, olderRuns: scaling.older_runs_left_out };
}

// Of the runs that the board counts, how their step times moved: asked for beside it, for it has
// every run and nothing of the board waits for it.
export function askHistory(chosen: string, abort: AbortSignal): Promise<History> {
  const query = new URLSearchParams(chosen ? { cluster: chosen } : {});
  query.set("include", kBoardInclude);
  return fetchHistory(query, abort);
}
