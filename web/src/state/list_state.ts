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

// Filters whose values are learned from the runs.
export const kChoiceKeys = ["workload", "dtype", "gpu_type", "cluster", "failure_cause"] as const;
export type ChoiceKey = (typeof kChoiceKeys)[number];

export const kMarks = ["none", "profiled", "traced", "function_check", "proxy", "on_cpu"] as const;

// Figures that are filtered by a range, each with what the API's unit is worth in the field's.
export const kRangeKeys = [
  "speed_against_reference",
  "mfu_model_flops_reference",
  "tokens_per_s_per_gpu",
] as const;
export type RangeKey = (typeof kRangeKeys)[number];
export type RangeEnd = `${RangeKey}_${"at_least" | "at_most"}`;
export const kRangeEnds: RangeEnd[] = kRangeKeys.flatMap((key): RangeEnd[] => [
  `${key}_at_least`,
  `${key}_at_most`,
]);

export const kDefaultSort = "-launched_at";

// Filters of which several values may be asked for: any of them will do.
const kListKeys = ["status", ...kChoiceKeys, "mark", "experiment"] as const;
export type ListKey = (typeof kListKeys)[number];

export type ListState = Record<ListKey, string[]> & {
  q: string;
  ranges: Partial<Record<RangeEnd, string>>;
  sort: string;
  pick: number[]; // for a comparison
};

export function readListState(query: URLSearchParams): ListState {
  const list = (key: ListKey) => [...new Set(query.getAll(key).filter(Boolean))];
  const ranges: ListState["ranges"] = {};
  for (const key of kRangeEnds) {
    const value = query.get(key)?.trim();
    if (value) ranges[key] = value;
  }
  return {
    q: query.get("q") ?? "",
    status: list("status"),
    workload: list("workload"),
    dtype: list("dtype"),
    gpu_type: list("gpu_type"),
    cluster: list("cluster"),
    failure_cause: list("failure_cause"),
    mark: list("mark"),
    experiment: list("experiment"),
    ranges,
    sort: query.get("sort") ?? kDefaultSort,
    pick: readPicks(query.get("pick")),
  };
}

function appendFilters(query: URLSearchParams, state: ListState, q: string): void {
  if (q) query.set("q", q);
  for (const key of kListKeys) for (const value of state[key]) query.append(key, value);
  for (const key of kRangeEnds) {
    const value = state.ranges[key];
    if (value) query.set(key, value);
  }
}

// Only what differs from the default is written, so that links stay short.
export function writeListState(state: ListState): URLSearchParams {
  const query = new URLSearchParams();
  appendFilters(query, state, state.q);
  if (state.sort !== kDefaultSort) query.set("sort", state.sort);
  if (state.pick.length > 0) query.set("pick", state.pick.join(","));
  return query;
}

export function apiQuery(state: ListState, limit: number, cursor: string | null): URLSearchParams {
  const query = new URLSearchParams();
  appendFilters(query, state, state.q.trim());
  query.set("sort", state.sort);
  query.set("limit", String(limit));
  if (cursor) query.set("cursor", cursor);
  return query;
}

// All that the list holds, as a file.
export function exportHref(state: ListState, format: "csv" | "ndjson"): string {
  const query = apiQuery(state, 0, null);
  query.delete("limit");
  return `/api/v1/runs.${format}?${query}`;
}

export function isFiltered(state: ListState): boolean {
  return (
    state.q.trim() !== "" ||
    kListKeys.some((key) => state[key].length > 0) ||
    Object.keys(state.ranges).length > 0
  );
}

export function withoutFilters(state: ListState): ListState {
  return { ...readListState(new URLSearchParams()), sort: state.sort, pick: state.pick };
}

export function toggled(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
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

function isInRanges(run: Run, ranges: ListState["ranges"]): boolean {
  return kRangeKeys.every((key) => {
    const low = ranges[`${key}_at_least`];
    const high = ranges[`${key}_at_most`];
    if (low === undefined && high === undefined) return true;
    const value = run[key];
    if (value === null) return false;
    return !(value < Number(low ?? -Infinity)) && !(value > Number(high ?? Infinity));
  });
}

// Whether a run that changed still belongs to the list, as far as the page can tell.
export function matchesFilters(run: Run, state: ListState): boolean {
  if (run.is_superseded) return false;
  for (const key of [...kChoiceKeys, "status", "experiment"] as const) {
    if (key === "workload") continue; // the server knows its names, and it is that of the list
    const wanted = state[key];
    if (wanted.length > 0 && !wanted.includes(run[key] ?? "")) return false;
  }
  const { mark } = state;
  const hasMark = run.marks.some((each) => mark.includes(each));
  const isUnmarked = run.marks.length === 0 && mark.includes("none");
  if (mark.length > 0 && !hasMark && !isUnmarked) return false;
  return isInRanges(run, state.ranges);
}
