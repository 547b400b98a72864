// A filter of which any number of values is chosen, behind a button that says which.
import { useEffect, useState } from "preact/hooks";
import { formatCount } from "../format";
import type { ChoiceCount } from "../state/choice_counts";
import { kChoicesToRead, offeredChoices } from "../state/offered_choices";
import { choicesByWord } from "../state/one_name";
import { FilterPopUp } from "./filter_pop_up";
import { PassingButton, summaryAround } from "./passing_button";

type Counts = ReadonlyMap<string, ChoiceCount>;
type Count = (values: readonly string[], abort: AbortSignal) => Promise<Counts | null>;

interface Props {
  label: string;
  chosen: readonly string[];
  values: readonly string[];
  isCut?: boolean; // the runs have more values than these
  word: (value: string) => string;
  // How many runs each value would show; it is asked when the list opens.
  count?: Count;
  question?: string; // names what `count` goes by
  onToggle: (value: string) => void;
  onNone: () => void;
}

const countId = (label: string, value: string) =>
  `count-${label}-${value}`.replaceAll(/\s/g, "-");

// Null: not known. A count that cannot be had is missed by none.
function useCounts(isOpen: boolean, { count, question }: Props, all: readonly string[]) {
  const [counts, setCounts] = useState<Counts | null>(null);
  useEffect(() => {
    if (!isOpen) setCounts(null);
    if (!isOpen || !count) return;
    const abort = new AbortController();
    count(all, abort.signal).then(setCounts, () => {});
    return () => abort.abort();
  }, [isOpen, question, all.join("\n")]);
  return counts;
}

export function ChoiceSet(props: Props) {
  const { label, chosen, values, isCut, word, onToggle, onNone } = props;
  const [part, setPart] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  const all = choicesByWord(values, chosen, word);
  const counts = useCounts(isOpen, props, all.map(({ value }) => value).sort());
  const { offered, hidden } = offeredChoices(all, chosen, part);
  const text = chosen.length === 0 ? "any" : chosen.map(word).join(", ");
  return (
    <FilterPopUp label={label} text={text} isSet={chosen.length > 0} onToggle={setIsOpen}>
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
          <label
            key={choice.value}
            class={counts?.get(choice.value)?.isNone ? "switch is-empty" : "switch"}
          >
            <input
              type="checkbox"
              aria-label={choice.word}
              aria-describedby={counts ? countId(label, choice.value) : undefined}
              checked={chosen.includes(choice.value)}
              onChange={() => onToggle(choice.value)}
            />
            {choice.word}
            {counts && (
              <span class="choice-count" id={countId(label, choice.value)}>
                {counts.get(choice.value)?.text}
                <span class="visually-hidden"> runs</span>
              </span>
            )}
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
