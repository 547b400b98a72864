// The filter of runs by figures: each from a value on, up to one, or both.
import { askedFigure, kRangeLabels, shownFigure } from "../filter_words";
import { FilterPopUp } from "../parts/filter_pop_up";
import { PassingButton, summaryAround } from "../parts/passing_button";
import { useTyped } from "../parts/typed";
import { formatPlural } from "../format";
import { kRangeKeys, type ListState, type RangeEnd, type RangeKey } from "../state/list_state";

interface Props {
  state: ListState;
  onChange: (ranges: ListState["ranges"]) => void;
}

export function FigureRanges({ state: { ranges }, onChange }: Props) {
  const count = Object.keys(ranges).length;
  const text = count === 0 ? "any" : formatPlural(count, "bound");
  const field = (key: RangeKey, end: "at_least" | "at_most") => {
    const { title, unit } = kRangeLabels[key];
    const name: RangeEnd = `${key}_${end}`;
    const now = ranges[name];
    const shown = now === undefined ? "" : String(shownFigure(key, now));
    const change = (text: string) => {
      const next = { ...ranges };
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value) || value < 0) delete next[name];
      else next[name] = askedFigure(key, value);
      onChange(next);
    };
    return (
      <FigureField
        label={`${title}, ${end === "at_least" ? "at least" : "at most"}${unit && `, ${unit}`}`}
        shown={shown}
        onChange={change}
      />
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
        {count > 0 && (
          <PassingButton class="quiet" heir={summaryAround} onClick={() => onChange({})}>
            Any figures
          </PassingButton>
        )}
      </fieldset>
    </FilterPopUp>
  );
}

interface FigureFieldProps {
  label: string;
  shown: string; // empty: none
  onChange: (text: string) => void;
}

function FigureField({ label, shown, onChange }: FigureFieldProps) {
  const [typed, setTyped] = useTyped(shown);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="number"
        min="0"
        step="any"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => onChange(event.currentTarget.value)}
        onBlur={() => setTyped(shown)}
      />
    </label>
  );
}
