// A filter of which any number of values is chosen, behind a button that says which.
import { useState } from "preact/hooks";
import { formatCount } from "../format";
import { kChoicesToRead, offeredChoices } from "../state/offered_choices";
import { choicesByWord } from "../state/one_name";
import { FilterPopUp } from "./filter_pop_up";
import { PassingButton, summaryAround } from "./passing_button";

interface Props {
  label: string;
  chosen: readonly string[];
  values: readonly string[];
  isCut?: boolean; // the runs have more values than these
  word: (value: string) => string;
  onToggle: (value: string) => void;
  onNone: () => void;
}

export function ChoiceSet({ label, chosen, values, isCut, word, onToggle, onNone }: Props) {
  const [part, setPart] = useState("");
  const all = choicesByWord(values, chosen, word);
  const { offered, hidden } = offeredChoices(all, chosen, part);
  const text = chosen.length === 0 ? "any" : chosen.map(word).join(", ");
  return (
    <FilterPopUp label={label} text={text} isSet={chosen.length > 0}>
      <fieldset class="choice-list">
        <legend class="visually-hidden">{label}</legend>
        {all.length > kChoicesToRead && (
          <input
            type="search"
            class="choice-part"
            aria-label={`find ${label}`}
            placeholder="Find"
            spellcheck={false}
            value={part}
            onInput={(event) => setPart(event.currentTarget.value)}
          />
        )}
        {all.length === 0 && <p class="sub">No run has one.</p>}
        {all.length > 0 && offered.length === 0 && <p class="sub">None has this in it.</p>}
        {offered.map((choice) => (
          <label key={choice.value} class="switch">
            <input
              type="checkbox"
              checked={chosen.includes(choice.value)}
              onChange={() => onToggle(choice.value)}
            />
            {choice.word}
          </label>
        ))}
        {hidden > 0 && (
          <p class="sub">{formatCount(hidden)} more: type a part of the one you look for.</p>
        )}
        {isCut && (
          <p class="sub">
            Runs have more values than these {formatCount(all.length)}: the address takes any.
          </p>
        )}
        {chosen.length > 0 && (
          <PassingButton class="quiet" heir={summaryAround} onClick={onNone}>
            Any {label}
          </PassingButton>
        )}
      </fieldset>
    </FilterPopUp>
  );
}
