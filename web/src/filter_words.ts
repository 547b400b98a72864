// The words of two kinds of filters of runs, those by learnt values and those by ranges of figures:
// how they are called, and how their values are. Pure.
import { kNoCluster, kNoClusterKey } from "./cluster_words";
import { formatCause, formatCount, formatWorkload } from "./format";
import { kNoCause, type ChoiceKey, type RangeKey } from "./state/list_state";

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
  cluster: (value) => (value === kNoClusterKey ? kNoCluster : value),
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

interface RangeLabel {
  title: string;
  scale: number; // of what is shown, to what the API is asked for
  unit: string;
}

export const kRangeLabels: Record<RangeKey, RangeLabel> = {
  speed_against_reference: { title: "speed against published", scale: 100, unit: "%" },
  mfu: { title: "MFU", scale: 100, unit: "%" },
  tokens_per_s_per_gpu: { title: "tokens/s a GPU", scale: 1, unit: "" },
};

// Without the digits that binary fractions add.
const rounded = (figure: number) => Number(figure.toPrecision(12));

// What the API is asked for, as it is shown; not a number where it asks for none.
export const shownFigure = (key: RangeKey, asked: string) =>
  rounded(Number(asked) * kRangeLabels[key].scale);

export const askedFigure = (key: RangeKey, shown: number) =>
  String(rounded(shown / kRangeLabels[key].scale));
