// Compared runs of one experiment and job number, and what tells them apart: their clusters, or else
// their ids. Pure.
import type { ComparedRun } from "./api/types";

const isAlike = (a: ComparedRun, b: ComparedRun) =>
  (a.experiment || a.path) === (b.experiment || b.path) && a.job_id === b.job_id;

const alikesOf = (run: ComparedRun, runs: readonly ComparedRun[]) =>
  runs.filter((other) => other.id !== run.id && isAlike(other, run));

// The ids of those that another one's name and job are the same as.
export function alikeRuns(runs: readonly ComparedRun[]): number[] {
  return runs.filter((run) => alikesOf(run, runs).length > 0).map(({ id }) => id);
}

// By the id of each of them what its label needs beside name and job: "eos", "run 7", "eos, run 7".
// `clusterOf`: how each is said to be of its cluster, null where nothing is said.
export function tellingWords(
  runs: readonly ComparedRun[],
  clusterOf: ReadonlyMap<number, string | null>,
): Map<number, string> {
  const cluster = ({ id }: ComparedRun) => clusterOf.get(id) ?? null;
  const words = runs.flatMap((run): [number, string][] => {
    const alikes = alikesOf(run, runs);
    const own = cluster(run);
    const isOfAnother = alikes.some((other) => cluster(other) !== own);
    const isOfTheSame = alikes.some((other) => cluster(other) === own);
    const parts = [...(isOfAnother && own ? [own] : []), ...(isOfTheSame ? [`run ${run.id}`] : [])];
    return parts.length > 0 ? [[run.id, parts.join(", ")]] : [];
  });
  return new Map(words);
}
