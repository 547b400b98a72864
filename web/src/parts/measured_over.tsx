// What every run of a page is measured over: the window, and which of its steps. Both stand in the
// URL by the API's names.
import { queryValue, setQuery } from "../state/page_query";
import { WindowForm } from "./window_form";

// What a step's time may hold beside training.
const kSteps = new Map([
  ["", "all"],
  ["checkpoint", "not after a checkpoint"],
  ["evaluation", "not after an evaluation"],
  ["profile", "not profiled"],
  ["all", "training alone"],
]);

interface Props {
  label: string; // of the window
  usual?: string; // without it, each run has its own
}

export function MeasuredOver({ label, usual }: Props) {
  const without = queryValue("without");
  // Several may stand in a link that somebody wrote.
  const choices = new Map([...kSteps, ...(kSteps.has(without) ? [] : [[without, without] as const])]);
  return (
    <div class="measured-over">
      <WindowForm
        label={label}
        {...(usual ? { usual } : {})}
        chosen={queryValue("window")}
        onChoose={(window) => setQuery("window", window)}
      />
      <label class={without ? "field field-set" : "field"}>
        <span>steps</span>
        <select
          value={without}
          onChange={(event) => setQuery("without", event.currentTarget.value)}
        >
          {[...choices].map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
