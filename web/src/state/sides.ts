// What a comparison is of, as its URL says it: runs, which the API groups by their configuration, or
// two to eight sides of runs that somebody named. Pure but for what reads the page's own URL.
import type { RunGroup } from "../api/types";
import { groupName } from "../verdict_words";
import { hrefOf, place } from "./location";
import { excessWords, kPicksMax, namedRuns } from "./picks";

export interface Side {
  name: string; // empty: its letter
  runs: number[];
}

export type Sides = readonly Side[]; // the others are measured against the first

export const kSideKeys = ["runs", "base", "base_name", "candidate", "candidate_name"];

interface Sorted {
  sides: Side[];
  repeated: number[]; // runs that an earlier side has
  excess: number[]; // runs beyond as many as a comparison takes
}

// A run is of one side, and all are eight at most.
function sortOut(query: URLSearchParams): Sorted {
  const names = [query.get("base_name") ?? "", ...query.getAll("candidate_name")];
  const lists = [query.get("base") ?? "", ...(query.get("candidate") ?? "").split(";")];
  const taken = new Set<number>();
  const repeated = new Set<number>();
  const excess = new Set<number>();
  const sides = lists.flatMap((list, at): Side[] => {
    const named = namedRuns(list);
    const fresh = named.filter((id) => !taken.has(id));
    const runs = fresh.slice(0, kPicksMax - taken.size);
    for (const id of named) if (taken.has(id)) repeated.add(id);
    for (const id of fresh.slice(runs.length)) excess.add(id);
    runs.forEach((id) => taken.add(id));
    return runs.length > 0 || at === 0 ? [{ name: (names[at] ?? "").trim(), runs }] : [];
  });
  return { sides, repeated: [...repeated], excess: [...excess] };
}

// Null where the URL names no two sides.
export function readSides(query: URLSearchParams): Sides | null {
  const { sides } = sortOut(query);
  return sides.length > 1 && sides[0]?.runs.length ? sides : null;
}

// What of the sides that the URL names is not compared as it says; none where it names no side.
export function sidesComplaints(query: URLSearchParams): string[] {
  if (!query.has("base") && !query.has("candidate")) return [];
  const { repeated, excess } = sortOut(query);
  return [
    repeatedWords(repeated),
    excessWords(excess),
    readSides(query) ? "" : "The address names no two groups that have a run each.",
  ].filter(Boolean);
}

function repeatedWords(runs: readonly number[]): string {
  if (runs.length === 0) return "";
  return runs.length === 1
    ? `Run ${runs[0]} is named in several groups, and counts in the first of them.`
    : `Runs ${runs.join(", ")} are named in several groups, and count in the first of them.`;
}

// As the API takes them.
export function sidesParameters([base, ...others]: Sides): [string, string][] {
  return [
    ["base", base?.runs.join(",") ?? ""],
    ["candidate", others.map(({ runs }) => runs.join(",")).join(";")],
  ];
}

// `rest`: of the page's query, what does not say which runs are compared.
export function sidesQuery(sides: Sides, rest: URLSearchParams): URLSearchParams {
  const query = withoutSides(rest);
  const [base, ...others] = sides.map(({ name }) => name);
  for (const [key, value] of sidesParameters(sides)) {
    query.set(key, value);
    if (key === "base" && base) query.set("base_name", base);
  }
  if (others.some(Boolean)) others.forEach((name) => query.append("candidate_name", name));
  return query;
}

export function withoutSides(query: URLSearchParams): URLSearchParams {
  const rest = new URLSearchParams(query);
  for (const key of kSideKeys) rest.delete(key);
  return rest;
}

export const compareAt = (query: URLSearchParams) => hrefOf("/compare", query);

// As the URL names the side that the group's runs are on, else its letter. A side whose runs are all
// left out has no group, so a group's number does not tell its side.
export function nameOfGroup(group: number, groups: readonly RunGroup[]): string {
  const run = groups.find((one) => one.group === group)?.run_ids[0];
  const sides = readSides(place.value.query) ?? [];
  const at = sides.findIndex(({ runs }) => run !== undefined && runs.includes(run));
  return at < 0 ? groupName(group) : nameOfSide(sides, at);
}

export function nameOfSide(sides: readonly { name: string }[], at: number): string {
  return sides[at]?.name.trim() || groupName(at);
}
