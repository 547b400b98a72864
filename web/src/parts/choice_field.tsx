// A filter of which one value is chosen, or none.
import { choicesByWord } from "../state/one_name";

interface Props {
  label: string;
  none: string; // the word for no value
  chosen: string; // empty: none
  values: Iterable<string>; // in any order, a value may come twice
  word?: (value: string) => string;
  onChoose: (value: string) => void;
}

const kItself = (value: string) => value;

export function ChoiceField({ label, none, chosen, values, word = kItself, onChoose }: Props) {
  const all = choicesByWord(values, chosen ? [chosen] : [], word);
  return (
    <label class={chosen ? "field field-set" : "field"}>
      <span>{label}</span>
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">{none}</option>
        {all
          .sort((a, b) => (a.word < b.word ? -1 : 1))
          .map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.word}
            </option>
          ))}
      </select>
    </label>
  );
}
