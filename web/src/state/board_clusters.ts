// What the board asks the API: the published results, and what the runs amount to, of each cluster
// by itself where there are several. A cluster's name is the configuration's for a tree, or else
// what the runs' llmb-config says; the latter is asked of one run of each configuration, for the
// series name a cluster only where one configuration was run on two.
import { fetchReferences, fetchRoots, fetchRun, fetchScaling } from "../api/client";
import type { Reference, RootList, Scaling } from "../api/types";
import { kBoardInclude, kRunsNamed, launchTimes, type ClusterAnswer } from "./board";
import type { Series } from "./measured";
import { rootList } from "./service";

// Each costs the server a reading of its runs, and the reader a board of its own.
const kClustersTogether = 12;

// How the runs say it whose cluster nobody named, where others are named.
export const kNoCluster = "no cluster named";

export interface BoardAnswers {
  references: Reference[];
  // One, or one for each cluster; none where there are too many to ask for together.
  answers: ClusterAnswer[];
  clusters: string[]; // all that are known
  launchedAt: Map<number, string>; // of the runs that the board names
  olderRuns: number;
}

type Ask<T> = (abort: AbortSignal) => Promise<T>;

export interface Asked {
  references: Ask<{ references: Reference[] }>;
  scaling: (cluster: string | null, abort: AbortSignal) => Promise<Scaling>;
  roots: Ask<RootList>;
  clusterOf: (run: number, abort: AbortSignal) => Promise<string | null>;
}

// A run stays on its cluster, so each is asked once.
const clusterOfRun = new Map<number, string | null>();

export const kApi: Asked = {
  references: (abort) => fetchReferences(abort),
  scaling(cluster, abort) {
    const query = new URLSearchParams(cluster === null ? {} : { cluster });
    query.set("runs_max", String(kRunsNamed));
    query.set("include", kBoardInclude);
    return fetchScaling(query, abort);
  },
  roots: async () => rootList.value ?? (await fetchRoots()),
  async clusterOf(run, abort) {
    const known = clusterOfRun.get(run);
    if (known !== undefined) return known;
    const { cluster } = await fetchRun(run, abort);
    clusterOfRun.set(run, cluster);
    return cluster;
  },
};

// Of the configurations of which no series names a cluster a run each.
function runsToAsk({ series }: Scaling): number[] {
  const named = new Map<string, number | null>(); // null: the series name theirs
  for (const { differences, points, left_out, ...one } of series) {
    const key = [one.workload, one.model_size, one.dtype, one.gpu_type].join(" ");
    const run = points[0]?.runs.at(-1) ?? left_out.at(-1);
    if (differences.some((difference) => difference.key === "cluster")) named.set(key, null);
    else if (run && !named.has(key)) named.set(key, run.id);
  }
  return [...named.values()].filter((run) => run !== null);
}

async function clusterNames(asked: Asked, all: Scaling, abort: AbortSignal): Promise<string[]> {
  const { roots } = await asked.roots(abort);
  const names = new Set(roots.flatMap(({ cluster }) => cluster ?? []));
  for (const { differences } of all.series) {
    const cluster = differences.find(({ key }) => key === "cluster")?.value;
    if (cluster) names.add(cluster);
  }
  // The name of a tree goes before what its runs say.
  if (roots.some(({ cluster }) => cluster === null)) {
    const found = await Promise.all(
      // One that cannot be read (it was removed since) names none.
      runsToAsk(all).map((run) => asked.clusterOf(run, abort).catch(() => null)),
    );
    for (const cluster of found) if (cluster) names.add(cluster);
  }
  return [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

const runsOf = ({ points, left_out }: Series) => [
  ...points.flatMap(({ runs }) => runs),
  ...left_out,
];

// Of `all` what none of the clusters' answers has.
export function remainder(all: Scaling, named: readonly Scaling[]): Scaling {
  const taken = new Set(named.flatMap(({ series }) => series.flatMap(runsOf)).map(({ id }) => id));
  const isOpen = ({ id }: { id: number }) => !taken.has(id);
  const series = all.series.map((one) => ({
    ...one,
    points: one.points.filter(({ runs }) => runs.some(isOpen)),
    left_out: one.left_out.filter(isOpen),
    left_out_groups: one.left_out_groups.flatMap((group) => {
      const elsewhere = named.flatMap((answer) => sameGroups(answer, one, group));
      const count = elsewhere.reduce((sum, { run_count }) => sum + run_count, 0);
      const run_count = group.run_count - count;
      return run_count > 0 ? [{ ...group, run_count }] : [];
    }),
  }));
  return {
    ...all,
    series: series.filter((one) => one.points.length + one.left_out_groups.length > 0),
  };
}

type Group = Series["left_out_groups"][number];

function sameGroups({ series }: Scaling, one: Series, group: Group): Group[] {
  const keyOf = ({ gpu_count, marks, are_copies }: Group) =>
    [gpu_count, ...[...marks].sort(), are_copies].join(" ");
  return series
    .filter(
      ({ workload, model_size, dtype, gpu_type }) =>
        workload === one.workload &&
        model_size === one.model_size &&
        dtype === one.dtype &&
        gpu_type === one.gpu_type,
    )
    .flatMap(({ left_out_groups }) => left_out_groups)
    .filter((other) => keyOf(other) === keyOf(group));
}

async function askClusters(
  asked: Asked,
  chosen: string,
  abort: AbortSignal,
): Promise<{ answers: ClusterAnswer[]; clusters: string[]; olderRuns: number }> {
  const all = await asked.scaling(chosen || null, abort);
  const olderRuns = all.older_runs_left_out;
  const whole = (cluster: string | null) => [{ cluster, scaling: all }];
  if (chosen) return { answers: whole(chosen), clusters: [chosen], olderRuns };
  const clusters = await clusterNames(asked, all, abort);
  if (clusters.length < 2) return { answers: whole(null), clusters, olderRuns };
  if (clusters.length > kClustersTogether) return { answers: [], clusters, olderRuns };
  const scalings = await Promise.all(clusters.map((name) => asked.scaling(name, abort)));
  const answers: ClusterAnswer[] = scalings.map((scaling, at) => ({
    cluster: clusters[at] ?? null,
    scaling,
  }));
  const rest = remainder(all, scalings);
  if (rest.series.length > 0) answers.push({ cluster: kNoCluster, scaling: rest });
  return { answers, clusters, olderRuns };
}

// `chosen`: the name of a cluster, or empty for all.
export async function askBoard(
  chosen: string,
  abort: AbortSignal,
  asked: Asked = kApi,
): Promise<BoardAnswers> {
  const [{ references }, { answers, ...rest }] = await Promise.all([
    asked.references(abort),
    askClusters(asked, chosen, abort),
  ]);
  const launchedAt = new Map(answers.flatMap(({ scaling }) => [...launchTimes(scaling)]));
  return { references, answers, launchedAt, ...rest };
}
