// What a comparison is of, as its URL says it: runs, which the API groups by their configuration, or
// two sides of runs that somebody named. Pure but for the names, which are those of the page's URL.
import { groupName } from "../verdict_words";
import { hrefOf } from "./location";
import { queryValue } from "./page_query";
import { kPicksMax, readPicks } from "./picks";

export interface Side {
  name: string; // empty: its letter
  runs: number[];
}

export type Sides = readonly [Side, Side]; // the first is what the other is measured against

const kKeys = ["base", "candidate"] as const;

// Null where the URL names no two sides. A run is of one side, and all are eight at most.
export function readSides(query: URLSearchParams): Sides | null {
  const [base, candidate] = kKeys.map((key) => readPicks(query.get(key)));
  if (!base || !candidate) return null;
  const others = candidate.filter((id) => !base.includes(id)).slice(0, kPicksMax - base.length);
  if (base.length === 0 || others.length === 0) return null;
  const name = (at: 0 | 1) => (query.get(`${kKeys[at]}_name`) ?? "").trim();
  return [
    { name: name(0), runs: base },
    { name: name(1), runs: others },
  ];
}

// `rest`: of the page's query, what does not say which runs are compared.
export function sidesQuery(sides: Sides, rest: URLSearchParams): URLSearchParams {
  const query = withoutSides(rest);
  kKeys.forEach((key, at) => {
    const side = sides[at as 0 | 1];
    query.set(key, side.runs.join(","));
    if (side.name) query.set(`${key}_name`, side.name);
  });
  return query;
}

export function withoutSides(query: URLSearchParams): URLSearchParams {
  const rest = new URLSearchParams(query);
  for (const key of ["runs", ...kKeys.flatMap((side) => [side, `${side}_name`])]) rest.delete(key);
  return rest;
}

export const compareAt = (query: URLSearchParams) => hrefOf("/compare", query);

// As the URL names it, else its letter.
export function nameOfGroup(group: number): string {
  const key = kKeys[group];
  return (key && queryValue(key) && queryValue(`${key}_name`).trim()) || groupName(group);
}
