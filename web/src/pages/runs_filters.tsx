// The filters of the runs page. Those that are seldom asked for stand behind a button, so that the
// others fit in one row. Typing waits for a pause; choices act at once.
import { useEffect, useState } from "preact/hooks";
import { ChoiceSet } from "../parts/choice_set";
import { TypedFilter } from "../parts/typed_filter";
import {
  isFiltered,
  kMarks,
  kStatuses,
  listKey,
  toggled,
  type ChoiceKey,
  type ListState,
} from "../state/list_state";
import { countChoices } from "../state/choice_counts";
import { hasLaunchBounds } from "../state/launch_days";
import { markWord } from "../mark_words";
import { statusWord } from "../status_words";
import { FigureRanges } from "./figure_ranges";
import { FilterChips } from "./filter_chips";
import { LaunchDays } from "./launch_days";
import { RunsChoices } from "./runs_choices";

const kUsualKeys: readonly ChoiceKey[] = ["workload", "model_size", "dtype", "gpu_type", "cluster"];
const kSeldomKeys: readonly ChoiceKey[] = ["gpu_count", "release", "failure_cause"];

interface Props {
  state: ListState;
  // `replace`: it is not a step that "back" should undo.
  onChange: (state: ListState, replace?: boolean) => void;
  clearings: number; // another one takes away what is being typed, too
  onClear: () => void;
}

export function RunsFilters({ state, onChange, clearings, onClear }: Props) {
  const list = (
    key: "status" | "mark",
    label: string,
    values: readonly string[],
    word: (value: string) => string,
  ) => (
    <ChoiceSet
      label={label}
      chosen={state[key]}
      values={values}
      word={word}
      question={listKey({ ...state, [key]: [] })}
      count={(all, abort) => countChoices(state, key, all, abort)}
      onToggle={(value) => onChange({ ...state, [key]: toggled(state[key], value) })}
      onNone={() => onChange({ ...state, [key]: [] })}
    />
  );
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <TypedFilter
          key={clearings}
          label="name or path"
          placeholder="gpus512"
          value={state.q}
          onChange={(q) => onChange({ ...state, q }, true)}
        />
        {list("status", "status", kStatuses, statusWord)}
        <RunsChoices keys={kUsualKeys} state={state} onChange={onChange} />
        {list("mark", "marks", kMarks, markWord)}
        <SeldomFilters state={state} onChange={onChange} />
        <FilterChips state={state} onChange={onChange} />
        {isFiltered(state) && (
          <button
            type="button"
            class="quiet"
            onClick={({ currentTarget }) => {
              // It goes with what it clears, and the focus would be lost with it.
              currentTarget.form?.querySelector<HTMLElement>(".more-filters")?.focus();
              onClear();
            }}
          >
            Clear filters
          </button>
        )}
      </form>
    </search>
  );
}

function seldomCount(state: ListState): number {
  const isSet = [
    ...kSeldomKeys.map((key) => state[key].length > 0),
    hasLaunchBounds(state),
    Object.keys(state.ranges).length > 0,
  ];
  return isSet.filter(Boolean).length;
}

// They come forth by themselves where one of them is set; who hides them again is told how many.
function SeldomFilters({ state, onChange }: Omit<Props, "clearings" | "onClear">) {
  const count = seldomCount(state);
  const [isOpen, setIsOpen] = useState(count > 0);
  useEffect(() => {
    if (count > 0) setIsOpen(true);
  }, [count > 0]);
  return (
    <>
      <button
        type="button"
        class="more-filters"
        aria-expanded={isOpen}
        aria-controls={isOpen ? "seldom-filters" : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        More filters{!isOpen && count > 0 && ` (${count} set)`}
        <span aria-hidden="true">{isOpen ? " ▴" : " ▾"}</span>
      </button>
      {isOpen && (
        <div id="seldom-filters" class="seldom-filters" role="group" aria-label="more filters">
          <RunsChoices keys={kSeldomKeys} state={state} onChange={onChange} />
          <LaunchDays
            state={state}
            // While a day is typed, each one on the way is none that "back" should show again.
            onChange={(bounds) => onChange({ ...state, ...bounds }, hasLaunchBounds(state))}
          />
          <FigureRanges state={state} onChange={(ranges) => onChange({ ...state, ranges })} />
        </div>
      )}
    </>
  );
}
