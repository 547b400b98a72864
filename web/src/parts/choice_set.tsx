// A filter of which any number of values is chosen, behind a button that says which.
import { choicesByWord } from "../state/one_name";
import { FilterPopUp } from "./filter_pop_up";

interface Props {
  label: string;
  chosen: readonly string[];
  values: readonly string[];
  word: (value: string) => string;
  onToggle: (value: string) => void;
  onNone: () => void;
}

export function ChoiceSet({ label, chosen, values, word, onToggle, onNone }: Props) {
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
