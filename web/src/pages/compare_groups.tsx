// The form that makes two named groups of the compared runs, in place of those by configuration.
import { useState } from "preact/hooks";
import type { ComparedRun } from "../api/types";
import { navigate, place } from "../state/location";
import {
  compareAt,
  readSides,
  sidesQuery,
  withoutSides,
  type Side,
  type Sides,
} from "../state/sides";

// Of a group, or of none.
type Choice = 0 | 1 | null;

export function GroupsForm({ runs }: { runs: ComparedRun[] }) {
  const { query } = place.value;
  const sides = readSides(query);
  const [names, setNames] = useState(sides ? sides.map(({ name }) => name) : ["", ""]);
  const [choices, setChoices] = useState(() => new Map(runs.map((run) => [run.id, first(run)])));
  const of = (at: 0 | 1): Side => ({
    name: (names[at] ?? "").trim(),
    runs: runs.filter(({ id }) => choices.get(id) === at).map(({ id }) => id),
  });
  const wanted: Sides = [of(0), of(1)];
  const isWhole = wanted.every((side) => side.runs.length > 0);
  const nameOf = (at: 0 | 1) => (names[at] ?? "").trim() || ["A", "B"][at];
  const name = (at: 0 | 1, label: string, placeholder: string) => (
    <label class="field">
      <span>{label}</span>
      <input
        value={names[at]}
        placeholder={placeholder}
        maxLength={40}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) =>
          setNames((before) => before.map((one, place) => (place === at ? value : one)))
        }
      />
    </label>
  );
  return (
    <details class="twin groups">
      <summary>Name two groups</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole) navigate(compareAt(sidesQuery(wanted, query)));
        }}
      >
        <div class="filters">
          {name(0, "the first group", "before")}
          {name(1, "the second, measured against it", "after")}
        </div>
        <ul>
          {runs.map((run) => (
            <li key={run.id}>
              <label>
                <select
                  value={String(choices.get(run.id) ?? "")}
                  onChange={({ currentTarget: { value } }) =>
                    setChoices((before) => new Map(before).set(run.id, choiceOf(value)))
                  }
                >
                  <option value="0">{nameOf(0)}</option>
                  <option value="1">{nameOf(1)}</option>
                  <option value="">neither</option>
                </select>{" "}
                run {run.id}
                {run.job_id !== null && `, job ${run.job_id}`}
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

// Groups by configuration lead: whatever is not of the first one is of the second.
function first({ group }: ComparedRun): Choice {
  return group === null ? null : group === 0 ? 0 : 1;
}

function choiceOf(value: string): Choice {
  return value === "0" ? 0 : value === "1" ? 1 : null;
}

function byConfiguration(sides: Sides, query: URLSearchParams): URLSearchParams {
  const rest = withoutSides(query);
  rest.set("runs", sides.flatMap(({ runs }) => runs).join(","));
  return rest;
}
