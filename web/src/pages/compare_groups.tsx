// The form that makes named groups of the compared runs, in place of those by configuration.
import { useState } from "preact/hooks";
import { originWords } from "../alike_runs";
import type { ComparedRun } from "../api/types";
import { navigate, place } from "../state/location";
import { kPicksMax } from "../state/picks";
import {
  compareAt,
  nameOfSide,
  readSides,
  sidesQuery,
  withoutSides,
  type Sides,
} from "../state/sides";

const kOrdinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
const kGroupsMin = 2;
const kExamples = ["before", "after"];

// Groups by configuration lead.
function startOf(runs: ComparedRun[], sides: Sides | null) {
  const groups = sides?.length ?? 1 + Math.max(0, ...runs.map(({ group }) => group ?? 0));
  const sideOf = ({ id, group }: ComparedRun) =>
    sides ? sides.findIndex((side) => side.runs.includes(id)) : (group ?? -1);
  return {
    names: Array.from({ length: Math.max(kGroupsMin, groups) }, (_, at) => sides?.[at]?.name ?? ""),
    choices: new Map(runs.map((run) => [run.id, sideOf(run)])), // -1: of none
  };
}

export function GroupsForm({ runs }: { runs: ComparedRun[] }) {
  const { query } = place.value;
  const sides = readSides(query);
  const [{ names, choices }, change] = useState(() => startOf(runs, sides));
  const all = names.map((name, at) => ({
    name: name.trim(),
    runs: runs.filter(({ id }) => choices.get(id) === at).map(({ id }) => id),
  }));
  const isWhole = all.every((side) => side.runs.length > 0);
  const setName = (at: number, name: string) =>
    change({ choices, names: names.map((one, place) => (place === at ? name : one)) });
  const dropLast = () => {
    const last = names.length - 1;
    change({
      names: names.slice(0, last),
      choices: new Map([...choices].map(([id, at]) => [id, at === last ? -1 : at])),
    });
  };
  return (
    <details class="twin groups">
      <summary>Name groups</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole) navigate(compareAt(sidesQuery(all, query)));
        }}
      >
        <div class="filters">
          {names.map((name, at) => (
            <label key={at} class="field">
              <span>{labelOf(at)}</span>
              <input
                value={name}
                placeholder={kExamples[at] ?? nameOfSide([], at)}
                maxLength={40}
                autocomplete="off"
                onInput={({ currentTarget: { value } }) => setName(at, value)}
              />
            </label>
          ))}
          {names.length < Math.min(kPicksMax, runs.length) && (
            <button
              type="button"
              class="quiet"
              onClick={() => change({ choices, names: [...names, ""] })}
            >
              Another group
            </button>
          )}
          {names.length > kGroupsMin && (
            <button type="button" class="quiet" onClick={dropLast}>
              Drop the last group
            </button>
          )}
        </div>
        <ul>
          {runs.map((run) => (
            <li key={run.id}>
              <label>
                <select
                  value={String(choices.get(run.id) ?? -1)}
                  onChange={({ currentTarget: { value } }) =>
                    change({ names, choices: new Map(choices).set(run.id, Number(value)) })
                  }
                >
                  {names.map((_, at) => (
                    <option key={at} value={String(at)}>
                      {nameOfSide(all, at)}
                    </option>
                  ))}
                  <option value="-1">none of them</option>
                </select>{" "}
                {nameOf(run, runs)}
              </label>
            </li>
          ))}
        </ul>
        <button type="submit" disabled={!isWhole}>
          Compare these groups
        </button>
        {!isWhole && <span class="hint"> Each group needs a run.</span>}
        {sides && (
          <a href={compareAt(byConfiguration(sides, query))}>Group them by configuration</a>
        )}
      </form>
    </details>
  );
}

// "run 7, job 900007, eos, release 25.10"
function nameOf(run: ComparedRun, runs: readonly ComparedRun[]): string {
  const job = run.job_id === null ? "" : `job ${run.job_id}`;
  return [`run ${run.id}`, job, originWords(run, runs)].filter(Boolean).join(", ");
}

function labelOf(at: number): string {
  const name = `the ${kOrdinals[at] ?? "next"}`;
  return at === 0 ? `${name} group` : `${name}, measured against the first`;
}

function byConfiguration(sides: Sides, query: URLSearchParams): URLSearchParams {
  const rest = withoutSides(query);
  rest.set("runs", sides.flatMap(({ runs }) => runs).join(","));
  return rest;
}
