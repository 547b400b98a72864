// The filters of the runs page whose values are learned from the runs: how they are called, and how
// their values are.
import { ChoiceSet } from "../parts/choice_set";
import { kNoCluster } from "../cluster_words";
import { formatCause, formatCount, formatWorkload } from "../format";
import { countChoices } from "../state/choice_counts";
import { clusters } from "../state/clusters";
import { kNoCause, listKey, toggled, type ChoiceKey, type ListState } from "../state/list_state";
import type { Choices } from "../state/run_list";

const kItself = (value: string) => value;

// An address may ask for what is no number.
function countWord(value: string): string {
  return /^\d{1,9}$/.test(value) ? formatCount(Number(value)) : value;
}

function causeWord(value: string): string {
  return value === kNoCause ? "no failure found" : formatCause(value);
}

export const kChoiceWords: Record<ChoiceKey, (value: string) => string> = {
  workload: formatWorkload,
  model_size: kItself,
  dtype: kItself,
  gpu_type: kItself,
  gpu_count: countWord,
  release: kItself,
  cluster: (value) => (value === "none" ? kNoCluster : value),
  failure_cause: causeWord,
};

export const kChoiceLabels: Record<ChoiceKey, string> = {
  workload: "workload",
  model_size: "model size",
  dtype: "dtype",
  gpu_type: "GPU type",
  gpu_count: "GPUs",
  release: "release",
  cluster: "cluster",
  failure_cause: "failed by",
};

interface Props {
  keys: readonly ChoiceKey[];
  state: ListState;
  choices: Choices;
  onChange: (state: ListState) => void;
}

export function RunsChoices({ keys, state, choices, onChange }: Props) {
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
