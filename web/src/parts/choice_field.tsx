// A filter of which one value is chosen, or none.
interface Props {
  label: string;
  none: string; // the word for no value
  chosen: string; // empty: none
  values: Iterable<string>; // in any order, a value may come twice
  word?: (value: string) => string;
  onChoose: (value: string) => void;
}

export function ChoiceField({ label, none, chosen, values, word, onChoose }: Props) {
  const all = new Set(values);
  if (chosen) all.add(chosen);
  return (
    <label class={chosen ? "field field-set" : "field"}>
      <span>{label}</span>
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">{none}</option>
        {[...all].sort().map((value) => (
          <option key={value} value={value}>
            {word ? word(value) : value}
          </option>
        ))}
      </select>
    </label>
  );
}
