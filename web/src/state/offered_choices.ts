// Which of a filter's values stand in its list: of many, those that have what was typed. Pure.

// Of more than so many, a reader looks for one by typing.
export const kChoicesToRead = 12;
const kOfferedMax = 50;

export interface NamedChoice {
  value: string;
  word: string;
}

// What is chosen is always offered, so that it can be taken back. `hidden`: how many more have `part`.
export function offeredChoices(
  all: readonly NamedChoice[],
  chosen: readonly string[],
  part: string,
): { offered: NamedChoice[]; hidden: number } {
  const sought = part.trim().toLowerCase();
  const has = ({ value, word }: NamedChoice) =>
    word.toLowerCase().includes(sought) || value.toLowerCase().includes(sought);
  const taken = all.filter(({ value }) => chosen.includes(value));
  const others = all.filter((one) => !chosen.includes(one.value) && has(one));
  return {
    offered: [...taken, ...others.slice(0, kOfferedMax)],
    hidden: Math.max(0, others.length - kOfferedMax),
  };
}
