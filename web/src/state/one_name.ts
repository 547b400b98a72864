// One workload goes by several names (with its prefix or without), and pages show one word for them:
// what has one word is one choice. Pure.

// Of values with one word the first, by the words' order; `chosen` for its own.
export function choicesByWord(
  values: Iterable<string>,
  chosen: readonly string[],
  word: (value: string) => string,
): { value: string; word: string }[] {
  const byWord = new Map<string, string>();
  for (const value of [...chosen, ...values]) {
    if (!byWord.has(word(value))) byWord.set(word(value), value);
  }
  return [...byWord].map(([named, value]) => ({ value, word: named }));
}
