// What tells compared runs apart: those of one experiment and job number by their clusters, or else
// by their ids; and all of them by where they came from. Pure.
import type { ComparedRun } from "./api/types";
import { clusterNames, clusterWords } from "./cluster_words";

const isAlike = (a: ComparedRun, b: ComparedRun) =>
  a.id !== b.id && (a.experiment || a.path) === (b.experiment || b.path) && a.job_id === b.job_id;

// By the id of each of them what its label needs beside name and job: "eos", "run 7", "eos, run 7".
export function tellingWords(runs: readonly ComparedRun[]): Map<number, string> {
  const known = clusterNames(runs);
  const words = runs.flatMap((run): [number, string][] => {
    const alikes = runs.filter((other) => isAlike(run, other));
    const isOfAnother = alikes.some(({ cluster }) => cluster !== run.cluster);
    const isOfTheSame = alikes.some(({ cluster }) => cluster === run.cluster);
    const parts = [
      ...(isOfAnother ? [clusterWords(run, known)] : []),
      ...(isOfTheSame ? [`run ${run.id}`] : []),
    ];
    return parts.length > 0 ? [[run.id, parts.join(", ")]] : [];
  });
  return new Map(words);
}

// Of which cluster and release a run is, each where the runs are of several: "alpha, release 25.10".
export function originWords(
  run: ComparedRun,
  runs: readonly ComparedRun[],
  between = ", ",
): string {
  const hasOther = (key: "cluster" | "release") => runs.some((other) => other[key] !== run[key]);
  return [
    hasOther("cluster") && clusterWords(run, clusterNames(runs)),
    hasOther("release") && (run.release === null ? "no release stated" : `release ${run.release}`),
  ]
    .filter(Boolean)
    .join(between);
}
