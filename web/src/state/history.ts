// The way to a configuration's history, as a URL says it, and what of an answer is about one run.
// Pure.
import type { History, HistoryLeftOut, HistorySeries } from "../api/types";
import { hrefOf } from "./location";
import { kPicksMax } from "./picks";
import { compareAt, sidesQuery } from "./sides";

// What the API filters by.
export const kHistoryKeys = ["workload", "model_size", "dtype", "gpu_type", "gpu_count"] as const;

export type HistorySelection = {
  [Key in (typeof kHistoryKeys)[number]]: string | number | null;
};

// Of what has a configuration, and may have more, that alone; null and what it lacks: any.
export function setSelection(query: URLSearchParams, of: Partial<HistorySelection>): void {
  for (const key of kHistoryKeys) {
    const value = of[key] ?? null;
    if (value !== null) query.set(key, String(value));
  }
}

// `include`: marks that count all the same.
export function historyHref(selection: HistorySelection, include = "", cluster = ""): string {
  const query = new URLSearchParams();
  setSelection(query, selection);
  if (include) query.set("include", include);
  if (cluster) query.set("cluster", cluster);
  return hrefOf("/history", query);
}

// All that its run is compared with: what the run's log alone does not say keeps it with them.
export function runHistoryHref({ id, workload }: { id: number; workload: string | null }): string {
  const query = new URLSearchParams(workload === null ? {} : { workload });
  query.set("run", String(id));
  return hrefOf("/history", query);
}

// A comparison of the runs on either side of a change, as many as a comparison takes.
// `measuring`: what the history is measured over.
export function sidesHref(
  { runs, changes }: HistorySeries,
  change: number,
  measuring: URLSearchParams,
): string {
  const at = changes[change]?.at ?? 0;
  const begin = changes[change - 1]?.at ?? 0;
  const end = changes[change + 1]?.at ?? runs.length;
  const before = runs.slice(begin, at).slice(-kPicksMax / 2);
  const after = runs.slice(at, end).slice(0, kPicksMax / 2);
  const side = (name: string, of: typeof runs) => ({ name, runs: of.map(({ id }) => id) });
  return compareAt(sidesQuery([side("before", before), side("after", after)], measuring));
}

// Of a run alone: the series that hold it, in whatever part. A copy is shown where the run is that
// counts for it, and a run that is left out beside those that count.
export function historyOf(history: History, run: number): History {
  const holds = ({ runs, copies, left_out }: HistorySeries) =>
    [...runs, ...copies, ...left_out].some(({ id }) => id === run);
  return {
    ...history,
    series: history.series.filter(holds),
    unplaced: history.unplaced.filter(({ id }) => id === run),
  };
}

// Why the answer leaves a run out; null where the run counts, and where there is no word of it.
export function leftOutEntry({ series, unplaced }: History, run: number): HistoryLeftOut | null {
  const counted = series.flatMap(({ runs, copies }) => [...runs, ...copies]);
  if (counted.some(({ id }) => id === run)) return null;
  const all = [...series.flatMap(({ left_out }) => left_out), ...unplaced];
  return all.find(({ id }) => id === run) ?? null;
}

// Those that no section of a series shows: a series of one run has none.
export function sectionlessLeftOut({ series, unplaced }: History): HistoryLeftOut[] {
  const single = series.filter(({ runs }) => runs.length === 1);
  return [...single.flatMap(({ left_out }) => left_out), ...unplaced];
}
