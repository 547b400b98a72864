// What the runs page shows, as its URL says it: filters, order and picks. Pure.
import { kEndedBadly } from "../ended_badly";
import { kOfCompleteRuns } from "../mark_words";
import { readPicks } from "./picks";

export const kStatuses: readonly string[] = [
  kEndedBadly,
  "running",
  "complete",
  "incomplete",
  "failed",
  "invalid",
  "no_data",
];

// Filters whose values are learned from the runs.
export const kChoiceKeys = [
  "workload",
  "model_size",
  "dtype",
  "gpu_type",
  "gpu_count",
  "release",
  "cluster",
  "failure_cause",
] as const;
export type ChoiceKey = (typeof kChoiceKeys)[number];

export const kMarks = ["none", ...kOfCompleteRuns];

// Of the filter by what runs failed by: those without a cause.
export const kNoCause = "none";

// Figures that are filtered by a range, in the API's units.
export const kRangeKeys = ["speed_against_reference", "mfu", "tokens_per_s_per_gpu"] as const;
export type RangeKey = (typeof kRangeKeys)[number];
export type RangeEnd = `${RangeKey}_${"at_least" | "at_most"}`;
export const kRangeEnds: RangeEnd[] = kRangeKeys.flatMap((key): RangeEnd[] => [
  `${key}_at_least`,
  `${key}_at_most`,
]);

export const kDefaultSort = "-launched_at";

// Filters that only an address asks for.
export const kAddressKeys = ["experiment", "job_id", "root_id"] as const;

// Filters of which several values may be asked for: any of them will do.
const kListKeys = ["status", ...kChoiceKeys, "mark", ...kAddressKeys] as const;
export type ListKey = (typeof kListKeys)[number];

// Filters of one value: two instants (or dates), and "true" for what rewritten logs held before.
const kSingleKeys = ["since", "before", "include_superseded"] as const;
type SingleKey = (typeof kSingleKeys)[number];

export const kKnownKeys: readonly string[] = [
  "q",
  ...kListKeys,
  ...kSingleKeys,
  ...kRangeEnds,
  "sort",
  "pick",
];

export type ListState = Record<ListKey, string[]> &
  Record<SingleKey, string> & {
    q: string;
    ranges: Partial<Record<RangeEnd, string>>;
    sort: string;
    pick: number[]; // for a comparison
  };

function singleValue(query: URLSearchParams, key: SingleKey): string {
  const value = query.get(key)?.trim() ?? "";
  return key === "include_superseded" && value === "false" ? "" : value; // as without it
}

export function readListState(query: URLSearchParams): ListState {
  const lists = kListKeys.map((key) => [key, [...new Set(query.getAll(key).filter(Boolean))]]);
  const singles = kSingleKeys.map((key) => [key, singleValue(query, key)]);
  const ranges: ListState["ranges"] = {};
  for (const key of kRangeEnds) {
    const value = query.get(key)?.trim();
    if (value) ranges[key] = value;
  }
  return {
    ...(Object.fromEntries(lists) as Record<ListKey, string[]>),
    ...(Object.fromEntries(singles) as Record<SingleKey, string>),
    q: query.get("q") ?? "",
    ranges,
    sort: query.get("sort") ?? kDefaultSort,
    pick: readPicks(query.get("pick")),
  };
}

// Values as they are: of one that is none the API says what is wrong with it.
function appendFilters(query: URLSearchParams, state: ListState, q: string): void {
  if (q) query.set("q", q);
  for (const key of kListKeys) for (const value of state[key]) query.append(key, value);
  for (const key of kSingleKeys) if (state[key]) query.set(key, state[key]);
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
    kSingleKeys.some((key) => state[key] !== "") ||
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
