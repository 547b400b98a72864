// How pages name clusters. Pure.
export interface OfCluster {
  readonly cluster: string | null;
}

// Each name once, in order.
export function clusterNames(all: readonly OfCluster[]): string[] {
  const named = all.flatMap(({ cluster }) => cluster ?? []);
  return [...new Set(named)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

// How the runs say it whose cluster nobody named, where others are named.
export const kNoCluster = "no cluster named";

// How the API's filter of runs by cluster says it.
export const kNoClusterKey = "none";

// Of what a page shows, or an answer has, for a cluster what that filter asks for.
export const clusterKey = (name: string | null) =>
  name === null || name === kNoCluster ? kNoClusterKey : name;

// Of a run; null where there is nothing to say, as no cluster has a name.
export function clusterWords({ cluster }: OfCluster, known: readonly string[]): string | null {
  return cluster ?? (known.length > 0 ? kNoCluster : null);
}
