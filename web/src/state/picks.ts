// The runs that are picked for a comparison, as a URL says them: "3,7,12". Pure.

export const kPicksMin = 2;
export const kPicksMax = 8;

// Each run once, in the order of the text; what is no run id is dropped.
function namedRuns(text: string | null): number[] {
  const ids = (text ?? "").split(",").filter((part) => /^[1-9]\d{0,14}$/.test(part));
  return [...new Set(ids.map(Number))];
}

// As many as a comparison takes.
export function readPicks(text: string | null): number[] {
  return namedRuns(text).slice(0, kPicksMax);
}

// The runs that the text names beyond that.
function readExcess(text: string | null): number[] {
  return namedRuns(text).slice(kPicksMax);
}

// "The address names 9 runs, and a comparison takes 8: run 9 is left out."
export function excessWords(text: string | null): string {
  const excess = readExcess(text);
  if (excess.length === 0) return "";
  const are = excess.length === 1 ? "run" : "runs";
  const verb = excess.length === 1 ? "is" : "are";
  return (
    `The address names ${kPicksMax + excess.length} runs, and a comparison takes ${kPicksMax}: ` +
    `${are} ${excess.join(", ")} ${verb} left out.`
  );
}

export function togglePick(picks: readonly number[], id: number): number[] {
  if (picks.includes(id)) return picks.filter((other) => other !== id);
  return picks.length < kPicksMax ? [...picks, id] : [...picks];
}

export function compareHref(picks: readonly number[]): string {
  return `/compare?runs=${picks.join(",")}`;
}
