// The filters of runs whose values are learned from the runs.
import { kChoiceLabels, kChoiceWords } from "../filter_words";
import { ChoiceSet } from "../parts/choice_set";
import { countChoices } from "../state/choice_counts";
import { clusters } from "../state/clusters";
import { kNoCause, listKey, toggled, type ChoiceKey, type ListState } from "../state/list_state";
import { runChoices } from "../state/run_choices";

interface Props {
  keys: readonly ChoiceKey[];
  state: ListState;
  onChange: (state: ListState) => void;
}

export function RunsChoices({ keys, state, onChange }: Props) {
  const choices = runChoices.value;
  const causes = choices.failure_cause;
  const values: Record<ChoiceKey, readonly string[]> = {
    ...choices,
    failure_cause: causes.length > 0 ? [...causes, kNoCause] : causes,
    cluster: clusters.value,
  };
  // Where nobody named a cluster there is nothing to choose.
  const offered = keys.filter(
    (key) => key !== "cluster" || values.cluster.length > 0 || state.cluster.length > 0,
  );
  return (
    <>
      {offered.map((key) => (
        <ChoiceSet
          key={key}
          label={kChoiceLabels[key]}
          chosen={state[key]}
          values={values[key]}
          isCut={choices.cut.includes(key)}
          word={kChoiceWords[key]}
          question={listKey({ ...state, [key]: [] })}
          count={(all, abort) => countChoices(state, key, all, abort)}
          onToggle={(value) => onChange({ ...state, [key]: toggled(state[key], value) })}
          onNone={() => onChange({ ...state, [key]: [] })}
        />
      ))}
    </>
  );
}
