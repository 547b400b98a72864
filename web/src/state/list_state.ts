// What the runs page shows, as its URL says it: filters, order and picks. Pure.
import type { Run, RunStatus } from "../api/types";
import { readPicks } from "./picks";

export const kStatuses: RunStatus[] = [
  "running",
  "complete",
  "incomplete",
  "failed",
  "invalid",
  "no_data",
];

export const kChoiceKeys = ["workload", "dtype", "gpu_type"] as const;
export type ChoiceKey = (typeof kChoiceKeys)[number];

export const kDefaultSort = "-launched_at";

export interface ListState {
  q: string;
  status: string;
  workload: string;
  dtype: string;
  gpu_type: string;
  experiment: string;
  sort: string;
  pick: number[]; // for a comparison
}

const kFilterKeys = ["q", "status", "workload", "dtype", "gpu_type", "experiment"] as const;
export type FilterKey = (typeof kFilterKeys)[number];

export function readListState(query: URLSearchParams): ListState {
  return {
    q: query.get("q") ?? "",
    status: query.get("status") ?? "",
    workload: query.get("workload") ?? "",
    dtype: query.get("dtype") ?? "",
    gpu_type: query.get("gpu_type") ?? "",
    experiment: query.get("experiment") ?? "",
    sort: query.get("sort") ?? kDefaultSort,
    pick: readPicks(query.get("pick")),
  };
}

// Only what differs from the default is written, so that links stay short.
export function writeListState(state: ListState): URLSearchParams {
  const query = new URLSearchParams();
  for (const key of kFilterKeys) if (state[key]) query.set(key, state[key]);
  if (state.sort !== kDefaultSort) query.set("sort", state.sort);
  if (state.pick.length > 0) query.set("pick", state.pick.join(","));
  return query;
}

export function apiQuery(state: ListState, limit: number, cursor: string | null): URLSearchParams {
  const query = new URLSearchParams();
  for (const key of kFilterKeys) {
    const value = state[key].trim();
    if (value) query.set(key, value);
  }
  query.set("sort", state.sort);
  query.set("limit", String(limit));
  if (cursor) query.set("cursor", cursor);
  return query;
}

export function isFiltered(state: ListState): boolean {
  return kFilterKeys.some((key) => state[key].trim() !== "");
}

export function withoutFilters(state: ListState): ListState {
  const cleared = { ...state };
  for (const key of kFilterKeys) cleared[key] = "";
  return cleared;
}

// Two states ask for the same list when only their picks differ.
export function listKey(state: ListState): string {
  return apiQuery(state, 0, null).toString();
}

export type SortDirection = "ascending" | "descending";

export function sortDirection(sort: string, key: string): SortDirection | null {
  if (sort === key) return "ascending";
  return sort === `-${key}` ? "descending" : null;
}

// The first click gives the order that is asked for most, the second turns it round.
export function nextSort(sort: string, key: string, first: SortDirection): string {
  const now = sortDirection(sort, key);
  const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
  return next === "ascending" ? key : `-${key}`;
}

// Whether a run that changed still belongs to the list, as far as the page can tell.
export function matchesFilters(run: Run, state: ListState): boolean {
  if (run.is_superseded) return false;
  for (const key of ["status", "workload", "dtype", "gpu_type", "experiment"] as const) {
    const wanted = state[key].trim();
    if (wanted && run[key] !== wanted) return false;
  }
  return true;
}
