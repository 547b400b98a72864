// The filters of the runs page. Typing waits for a pause; choices act at once.
import { useEffect, useRef, useState } from "preact/hooks";
import { statusWord } from "../parts/status_mark";
import { formatKey } from "../format";
import {
  isFiltered,
  kChoiceKeys,
  kStatuses,
  type FilterKey,
  type ListState,
} from "../state/list_state";
import type { Choices } from "../state/run_list";

const kTypingPauseMs = 250;

interface Props {
  state: ListState;
  choices: Choices;
  onFilter: (key: FilterKey, value: string) => void;
  onClear: () => void;
}

export function RunsFilters({ state, choices, onFilter, onClear }: Props) {
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <TextFilter value={state.q} onChange={(value) => onFilter("q", value)} />
        <Choice
          label="status"
          value={state.status}
          values={kStatuses}
          word={statusWord}
          onChange={(value) => onFilter("status", value)}
        />
        {kChoiceKeys.map((key) => (
          <Choice
            key={key}
            label={key === "gpu_type" ? "GPU type" : formatKey(key)}
            value={state[key]}
            values={choices[key]}
            onChange={(value) => onFilter(key, value)}
          />
        ))}
        {state.experiment && (
          <p class="chip">
            experiment <b>{state.experiment}</b>
          </p>
        )}
        {isFiltered(state) && (
          <button type="button" class="quiet" onClick={onClear}>
            Clear filters
          </button>
        )}
      </form>
    </search>
  );
}

function TextFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // The URL may change under the field (back, clear), but must not undo what is being typed.
  useEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, kTypingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label class="field field-text">
      <span>name or path</span>
      <input
        type="search"
        value={text}
        placeholder="grok1, gpus512, …"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  values: readonly string[];
  word?: (value: string) => string;
  onChange: (value: string) => void;
}

function Choice({ label, value, values, word = (text) => text, onChange }: ChoiceProps) {
  const options = value && !values.includes(value) ? [value, ...values] : values;
  return (
    <label class={value ? "field field-set" : "field"}>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {word(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
