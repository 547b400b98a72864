// How many runs each value of a filter would show under the other filters, so that none leads to an
// empty list unseen. Asked for when the filter is opened.
import { fetchRuns } from "../api/client";
import { formatCount } from "../format";
import { apiQuery, type ChoiceKey, type ListState } from "./list_state";

export type CountedKey = ChoiceKey | "status" | "mark";

export interface ChoiceCount {
  isNone: boolean;
  text: string; // "12", "more than 5,000"
}

// A request for each of them.
const kCountedMax = 40;

export function countQuery(state: ListState, key: CountedKey, value: string): URLSearchParams {
  return apiQuery({ ...state, [key]: [value] }, 1, null);
}

// Null: of so many values none is counted.
export async function countChoices(
  state: ListState,
  key: CountedKey,
  values: readonly string[],
  abort: AbortSignal,
): Promise<Map<string, ChoiceCount> | null> {
  if (values.length > kCountedMax) return null;
  const counted = values.map(async (value): Promise<[string, ChoiceCount]> => {
    const { total, is_total_exact } = await fetchRuns(countQuery(state, key, value), abort);
    const count = formatCount(total);
    return [value, { isNone: total === 0, text: is_total_exact ? count : `more than ${count}` }];
  });
  return new Map(await Promise.all(counted));
}
