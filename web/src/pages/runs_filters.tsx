// The filters of the runs page. Typing waits for a pause; choices act at once.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { PopUp } from "../parts/pop_up";
import { statusWord } from "../parts/status_mark";
import { formatCause, formatKey, formatPlural, formatWorkload } from "../format";
import {
  isFiltered,
  kChoiceKeys,
  kMarks,
  kRangeKeys,
  kStatuses,
  toggled,
  type ChoiceKey,
  type ListKey,
  type ListState,
  type RangeEnd,
  type RangeKey,
} from "../state/list_state";
import { clusters } from "../state/clusters";
import type { Choices } from "../state/run_list";
import { markWord } from "../mark_words";
import { choicesByWord } from "../state/one_name";

const kTypingPauseMs = 250;

interface Props {
  state: ListState;
  choices: Choices;
  // `replace`: it is not a step that "back" should undo.
  onChange: (state: ListState, replace?: boolean) => void;
  onClear: () => void;
}

const kChoiceWords: Record<ChoiceKey, (value: string) => string> = {
  workload: formatWorkload,
  dtype: (value) => value,
  gpu_type: (value) => value,
  cluster: (value) => value,
  failure_cause: formatCause,
};
const kChoiceLabels: Record<ChoiceKey, string> = {
  workload: "workload",
  dtype: "dtype",
  gpu_type: "GPU type",
  cluster: "cluster",
  failure_cause: "failed by",
};

export function RunsFilters({ state, choices, onChange, onClear }: Props) {
  const list = (key: ListKey, label: string, values: readonly string[], word = formatKey) => (
    <ChoiceSet
      key={key}
      label={label}
      chosen={state[key]}
      values={values}
      word={word}
      onToggle={(value) => onChange({ ...state, [key]: toggled(state[key], value) })}
      onNone={() => onChange({ ...state, [key]: [] })}
    />
  );
  const values = { ...choices, cluster: clusters.value };
  // Where nobody named a cluster there is nothing to choose.
  const offered = kChoiceKeys.filter(
    (key) => key !== "cluster" || values.cluster.length > 0 || state.cluster.length > 0,
  );
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <TextFilter value={state.q} onChange={(q) => onChange({ ...state, q }, true)} />
        {list("status", "status", kStatuses, statusWord)}
        {offered.map((key) => list(key, kChoiceLabels[key], values[key], kChoiceWords[key]))}
        {list("mark", "marks", kMarks, markWord)}
        <Ranges state={state} onChange={(ranges) => onChange({ ...state, ranges })} />
        {state.experiment.map((experiment) => (
          <p key={experiment} class="chip">
            experiment <b>{experiment}</b>
          </p>
        ))}
        {isFiltered(state) && (
          <button type="button" class="quiet" onClick={onClear}>
            Clear filters
          </button>
        )}
      </form>
    </search>
  );
}

interface FilterPopUpProps {
  label: string;
  text: string; // what is chosen
  isSet: boolean;
  children: ComponentChildren;
}

function FilterPopUp({ label, text, isSet, children }: FilterPopUpProps) {
  const summary = (
    <>
      <span class="choice-label">{label}</span>
      <span class="choice-text">{text}</span>
    </>
  );
  return (
    <PopUp class={isSet ? "field-list is-set" : "field-list"} summary={summary}>
      {children}
    </PopUp>
  );
}

interface ChoiceSetProps {
  label: string;
  chosen: readonly string[];
  values: readonly string[];
  word: (value: string) => string;
  onToggle: (value: string) => void;
  onNone: () => void;
}

// Any number of values, behind a button that says which are chosen.
function ChoiceSet({ label, chosen, values, word, onToggle, onNone }: ChoiceSetProps) {
  const all = choicesByWord(values, chosen, word);
  const text = chosen.length === 0 ? "any" : chosen.map(word).join(", ");
  return (
    <FilterPopUp label={label} text={text} isSet={chosen.length > 0}>
      <fieldset class="choice-list">
        <legend class="visually-hidden">{label}</legend>
        {all.length === 0 && <p class="sub">No run has one.</p>}
        {all.map((choice) => (
          <label key={choice.value} class="switch">
            <input
              type="checkbox"
              checked={chosen.includes(choice.value)}
              onChange={() => onToggle(choice.value)}
            />
            {choice.word}
          </label>
        ))}
        {chosen.length > 0 && (
          <button type="button" class="quiet" onClick={onNone}>
            Any {label}
          </button>
        )}
      </fieldset>
    </FilterPopUp>
  );
}

const kRangeLabels: Record<RangeKey, { title: string; scale: number; unit: string }> = {
  speed_against_reference: { title: "speed against published", scale: 100, unit: "%" },
  mfu_model_flops_reference: { title: "MFU", scale: 100, unit: "%" },
  tokens_per_s_per_gpu: { title: "tokens/s a GPU", scale: 1, unit: "" },
};

interface RangesProps {
  state: ListState;
  onChange: (ranges: ListState["ranges"]) => void;
}

function Ranges({ state: { ranges }, onChange }: RangesProps) {
  const count = Object.keys(ranges).length;
  const text = count === 0 ? "any" : formatPlural(count, "bound");
  const field = (key: RangeKey, end: "at_least" | "at_most") => {
    const { title, scale, unit } = kRangeLabels[key];
    const name: RangeEnd = `${key}_${end}`;
    const now = ranges[name];
    const shown = now === undefined ? "" : String(Number((Number(now) * scale).toPrecision(12)));
    const change = (text: string) => {
      const next = { ...ranges };
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value) || value < 0) delete next[name];
      else next[name] = String(Number((value / scale).toPrecision(12)));
      onChange(next);
    };
    return (
      <label class="field">
        <span>
          {title}, {end === "at_least" ? "at least" : "at most"}
          {unit && `, ${unit}`}
        </span>
        <input
          type="number"
          min="0"
          step="any"
          value={shown}
          onChange={(event) => change(event.currentTarget.value)}
        />
      </label>
    );
  };
  return (
    <FilterPopUp label="figures" text={text} isSet={count > 0}>
      <fieldset class="choice-list range-list">
        <legend class="visually-hidden">figures</legend>
        {kRangeKeys.map((key) => (
          <div key={key} class="range">
            {field(key, "at_least")}
            {field(key, "at_most")}
          </div>
        ))}
      </fieldset>
    </FilterPopUp>
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
        placeholder="gpus512"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}
