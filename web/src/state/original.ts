// The run that counts for the same log as another: logs with the same bytes are one run, and history
// tells which of them stands for the others.
import { fetchHistory } from "../api/client";
import type { History, RunDetails } from "../api/types";
import { useAnswer } from "./answer";
import { kHistoryKeys } from "./history";

// Of all runs of its configuration; null where nothing is left out as a copy of another.
function questionOf(run: RunDetails): URLSearchParams | null {
  if (run.status !== "complete" || run.workload === null) return null;
  const query = new URLSearchParams();
  for (const key of kHistoryKeys) {
    const value = run[key];
    if (value !== null) query.set(key, String(value));
  }
  if (run.marks.length > 0) query.set("include", run.marks.join(","));
  return query;
}

export function originalOf(id: number, history: History | null): number | null {
  const copies = history?.series.flatMap((series) => series.copies) ?? [];
  return copies.find((copy) => copy.id === id)?.copy_of ?? null;
}

// Null where it counts itself, and until that is known.
export function useOriginal(run: RunDetails): number | null {
  const query = questionOf(run);
  const answer = useAnswer<History | null>(
    `original of ${run.id} ${query}`,
    async (abort) => query && fetchHistory(query, abort),
    () => false,
  );
  return originalOf(run.id, answer.value.value);
}
