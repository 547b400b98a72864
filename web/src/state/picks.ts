// The runs that are picked for a comparison, as a URL says them: "3,7,12". Pure.

export const kPicksMin = 2;
export const kPicksMax = 8;

// Each run once, in the order of the text; what is no run id is dropped.
export function readPicks(text: string | null): number[] {
  const ids = (text ?? "").split(",").filter((part) => /^[1-9]\d{0,14}$/.test(part));
  return [...new Set(ids.map(Number))].slice(0, kPicksMax);
}

export function togglePick(picks: readonly number[], id: number): number[] {
  if (picks.includes(id)) return picks.filter((other) => other !== id);
  return picks.length < kPicksMax ? [...picks, id] : [...picks];
}

export function compareHref(picks: readonly number[]): string {
  return `/compare?runs=${picks.join(",")}`;
}
