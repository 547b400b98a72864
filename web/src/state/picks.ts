// The runs that are picked for a comparison, as a URL says them: "3,7,12". Pure.
import { quotedNames } from "./quoted_names";

export const kPicksMin = 2;
export const kPicksMax = 8;

const isId = (part: string) => /^[1-9]\d{0,14}$/.test(part);

// Each run once, in the order of the text; what is no run id is dropped.
export function namedRuns(text: string | null): number[] {
  return [...new Set((text ?? "").split(",").filter(isId).map(Number))];
}

export const excessOf = (text: string | null) => namedRuns(text).slice(kPicksMax);

// As many as a comparison takes.
export function readPicks(text: string | null): number[] {
  return namedRuns(text).slice(0, kPicksMax);
}

// `excess`: the runs that are named beyond that.
// "The address names 9 runs, and a comparison takes 8: run 9 is left out."
export function excessWords(excess: readonly number[]): string {
  if (excess.length === 0) return "";
  const are = excess.length === 1 ? "run" : "runs";
  const verb = excess.length === 1 ? "is" : "are";
  return (
    `The address names ${kPicksMax + excess.length} runs, and a comparison takes ${kPicksMax}: ` +
    `${are} ${excess.join(", ")} ${verb} left out.`
  );
}

// "'abc' is no id of a run and is left out: ids are whole numbers from 1." `text`: lists of runs,
// those of several sides apart by ";".
export function strangerWords(text: string): string {
  const parts = text.split(/[,;]/).filter((part) => part.trim() && !isId(part));
  const strangers = [...new Set(parts)];
  if (strangers.length === 0) return "";
  const are = strangers.length === 1 ? "is no id of a run and is" : "are no ids of runs and are";
  return `${quotedNames(strangers)} ${are} left out: ids are whole numbers from 1.`;
}

export function togglePick(picks: readonly number[], id: number): number[] {
  if (picks.includes(id)) return picks.filter((other) => other !== id);
  return picks.length < kPicksMax ? [...picks, id] : [...picks];
}

export function compareHref(picks: readonly number[]): string {
  return `/compare?runs=${picks.join(",")}`;
}
