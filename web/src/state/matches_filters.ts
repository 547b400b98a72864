// Whether a run that changed still belongs to the list, as far as the page can tell. Pure.
import type { Run } from "../api/types";
import { kNoClusterKey } from "../cluster_words";
import { isKindOf } from "../dtype";
import { endedBadly, kEndedBadly } from "../ended_badly";
import { parseInstant } from "../format";
import {
  kAddressKeys,
  kChoiceKeys,
  kNoCause,
  kRangeKeys,
  type ListKey,
  type ListState,
} from "./list_state";

const kMatchedKeys = ["status", ...kChoiceKeys, ...kAddressKeys] as const;

// What a run has of it, as an address says it; null: none.
export function filterValue(run: Run, key: Exclude<ListKey, "mark">): string | null {
  const value = run[key];
  return value === null || value === undefined ? null : String(value);
}

function isWanted(run: Run, key: Exclude<ListKey, "mark">, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  if (key === "status" && wanted.includes(kEndedBadly) && endedBadly(run)) return true;
  if (key === "workload") return true; // the server knows its names, and it is that of the list
  const value = filterValue(run, key);
  if (key === "cluster" && !value) return wanted.includes(kNoClusterKey);
  if (key === "failure_cause" && !value) return wanted.includes(kNoCause);
  if (value === null) return false;
  if (wanted.includes(value)) return true;
  return key === "dtype" && wanted.some((coarse) => isKindOf(value, coarse));
}

function hasWantedMark({ marks }: Run, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  return marks.length === 0 ? wanted.includes("none") : marks.some((mark) => wanted.includes(mark));
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

// Where a launch is not known, when the run was first seen counts.
function isLaunchedWithin(run: Run, { since, before }: ListState): boolean {
  if (!since && !before) return true;
  const at = parseInstant(run.launched_at ?? run.first_seen_at)?.getTime();
  if (at === undefined) return false;
  const first = parseInstant(since)?.getTime() ?? -Infinity;
  return at >= first && at < (parseInstant(before)?.getTime() ?? Infinity);
}

export function matchesFilters(run: Run, state: ListState): boolean {
  if (run.is_superseded && state.include_superseded !== "true") return false;
  return (
    kMatchedKeys.every((key) => isWanted(run, key, state[key])) &&
    hasWantedMark(run, state.mark) &&
    isInRanges(run, state.ranges) &&
    isLaunchedWithin(run, state)
  );
}
