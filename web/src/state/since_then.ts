// Whether the runs that a cell of the board counts have become slower or faster since the first of
// them, as their history says: the speed of all of them is not that of the newest then. Pure.
import type { HistorySeries } from "../api/types";
import { toldChange, toldDrift, toldMeanChange, toldNewest, type Told } from "../history_words";

export interface SinceThen {
  verdict: Told["verdict"];
  words: string;
}

// The runs before the place `to` were launched before it was over, those from `from` on after it began.
interface Move {
  from: number;
  to: number;
  told: Told;
}

function movesOf(series: HistorySeries): Move[] {
  const { changes, mean_changes: means, drift, runs } = series;
  const moves: Move[] = [];
  const add = (told: Told, from: number, to = from) => moves.push({ from, to, told });
  const change = changes.at(-1);
  const meanChange = means.at(-1);
  if (change) add(toldChange(series, change), change.at);
  if (meanChange) add(toldMeanChange(series, meanChange), meanChange.at);
  if (drift) add(toldDrift(series, drift), drift.at + 1, drift.last_at);
  for (const told of toldNewest(series)) add(told, runs.length - 2);
  return moves.filter(({ told }) => told.ofStepTime);
}

// Where each run stands in its history.
export type Places = ReadonlyMap<number, { series: HistorySeries; at: number }>;

export function placesIn(histories: readonly HistorySeries[]): Places {
  return new Map(
    histories.flatMap((series) => series.runs.map(({ id }, at) => [id, { series, at }] as const)),
  );
}

// `runs`: those of the cell that were launched last, of `runCount`. Null where nothing moved between
// them.
export function sinceThen(
  runs: readonly number[],
  runCount: number,
  known: Places,
): SinceThen | null {
  const found = runs.flatMap((id) => known.get(id) ?? []);
  const told = [...new Set(found.map(({ series }) => series))].flatMap((series) => {
    const places = found.filter((one) => one.series === series).map(({ at }) => at);
    const last = Math.max(...places);
    // Of more runs than are named: up to the last one they take as many places at least.
    const first = Math.min(...places, runCount > runs.length ? last - runCount + 1 : last);
    if (first >= last) return [];
    return movesOf(series)
      .filter(({ from, to }) => first < to && last >= from)
      .map((move) => move.told);
  });
  if (told.length === 0) return null;
  const each = told.map(({ runId, amount, levels }) => `from run ${runId} on ${amount}${levels}`);
  return {
    verdict: told.some(({ verdict }) => verdict === "slower") ? "slower" : "faster",
    words: `Not all alike, in the order of their starts: ${each.join("; ")}.`,
  };
}
