// The filters of an address for which a page of counts has no field, in words, each with the state
// that would be without it: what counts is to be seen. Pure.
import { kChoiceLabels, kChoiceWords, kRangeLabels, shownFigure } from "../filter_words";
import { markWord } from "../mark_words";
import { statusWord } from "../status_words";
import type { AddressFilter } from "./address_filters";
import {
  kChoiceKeys,
  kRangeKeys,
  toggled,
  type ChoiceKey,
  type ListKey,
  type ListState,
} from "./list_state";

function rangeFilters(state: ListState): AddressFilter[] {
  return kRangeKeys.flatMap((key) =>
    (["at_least", "at_most"] as const).flatMap((end) => {
      const { [`${key}_${end}` as const]: value, ...ranges } = state.ranges;
      if (value === undefined) return [];
      const { title, unit } = kRangeLabels[key];
      const number = shownFigure(key, value);
      return [
        {
          label: `${title} ${end.replace("_", " ")}`,
          value: Number.isFinite(number) ? `${number}${unit && ` ${unit}`}` : value,
          without: { ...state, ranges },
        },
      ];
    }),
  );
}

// `shown`: those that have one.
export function hiddenFilters(state: ListState, shown: readonly ChoiceKey[]): AddressFilter[] {
  const all = (key: ListKey, label: string, word: (value: string) => string): AddressFilter[] =>
    state[key].map((value) => ({
      label,
      value: word(value),
      without: { ...state, [key]: toggled(state[key], value) },
    }));
  const q = state.q.trim();
  return [
    ...(q ? [{ label: "name or path", value: q, without: { ...state, q: "" } }] : []),
    ...all("status", "status", statusWord),
    ...kChoiceKeys
      .filter((key) => !shown.includes(key))
      .flatMap((key) => all(key, kChoiceLabels[key], kChoiceWords[key])),
    ...all("mark", "marks", markWord),
    ...rangeFilters(state),
  ];
}
