// What the speed of runs, the published step time over theirs, makes of a cell of the board, by its
// one-sided 95 % bounds, and the same in words. Two lines are never mixed up: the aim, which cells
// meet or not, and the published speed itself, which runs reach or not (`verdict` of the API). Pure.
import type { PublishedStanding } from "../api/types";
import { formatNumber, formatPercent, formatPlural, formatSpeed } from "../format";

export const kAim = 0.95; // of the published speed; what a certification asks for

export const kNear = 0.02; // of the published speed: missed by less is near
const kMoreRunsMax = 8;

export type CellState =
  | "met"
  | "undecided"
  | "near"
  | "below"
  | "running"
  | "failed"
  | "incomplete"
  | "invalid"
  | "missing"
  | "unjudged";
export const kCellStates: CellState[] = [
  "met",
  "undecided",
  "near",
  "below",
  "running",
  "failed",
  "incomplete",
  "invalid",
  "missing",
  "unjudged",
];

export const kStateWords: Record<CellState, string> = {
  met: "aim met",
  undecided: "not decided",
  near: "near",
  below: "below",
  running: "running",
  failed: "failed",
  incomplete: "incomplete",
  invalid: "invalid",
  missing: "missing",
  unjudged: "no recipe",
};

export const kStateMeanings: Record<CellState, string> = {
  met: `at least ${kAim} × the published speed, with 95 % confidence`,
  undecided: `the 95 % bounds have ${kAim} × between them: more runs would decide`,
  near: `below ${kAim} × with 95 % confidence, by less than ${formatPercent(kNear, 0)}`,
  below: "further below, with 95 % confidence",
  running: "a run is under way, beside those that count or alone",
  failed: "no complete run, and the newest failed",
  incomplete: "no complete run, and the newest stopped or hung",
  invalid: "no complete run, and the newest has NaN values",
  missing: "no run that counts",
  unjudged: "published, but the catalog has no recipe to hold runs against",
};

// About how many runs like these would bring the bound that is on the other side to the line.
function runsToDecide(speed: number, low: number, high: number, runCount: number): number {
  const halfWidth = Math.log(high / low) / 2; // goes with the root of the number of runs
  const toLine = Math.abs(Math.log(speed / kAim));
  const needed = Math.ceil(runCount * (halfWidth / toLine) ** 2) - runCount;
  return Math.max(1, Math.min(kMoreRunsMax, needed));
}

export function judge(
  { speed, speed_low: low, speed_high: high, confidence }: PublishedStanding,
  runCount: number,
): { state: CellState; words: string; repeats: number } {
  const runs = formatPlural(runCount, "run");
  if (speed === null || low === null || high === null) {
    return { state: "undecided", words: `${runs}, without bounds of their speed.`, repeats: 2 };
  }
  const speedText = formatSpeed(speed);
  const is = speedText === "equal" ? "as fast as published" : `${speedText} than published`;
  const sure = `with ${formatPercent(confidence, 0)} confidence`;
  if (low >= kAim) {
    return {
      state: "met",
      words: `${runs}, ${is}; above ${formatNumber(low)} × ${sure}, which meets the aim of ${kAim} ×.`,
      repeats: 1,
    };
  }
  if (high >= kAim) {
    const repeats = runsToDecide(speed, low, high, runCount);
    const more =
      repeats === kMoreRunsMax
        ? `${repeats} more runs or more`
        : `About ${formatPlural(repeats, "more run")}`;
    return {
      state: "undecided",
      words:
        `${runs}, ${is}; above ${formatNumber(low)} × and below ${formatNumber(high)} ×, each ` +
        `${sure}, and the aim of ${kAim} × is between them. ` +
        `${more} would decide.`,
      repeats,
    };
  }
  const below = `${runs}, ${is}; below ${formatNumber(high)} × ${sure}`;
  if (speed >= kAim - kNear) {
    const missed = `less than ${formatPercent(kNear, 0)} of the published speed`;
    return { state: "near", words: `${below}, ${missed} under the aim of ${kAim} ×.`, repeats: 2 };
  }
  return { state: "below", words: `${below}, under the aim of ${kAim} ×.`, repeats: 2 };
}

const kStandings: Record<PublishedStanding["verdict"], string> = {
  reached: "reached",
  not_reached: "not reached",
  not_decided: "not decided",
};

// Whether the published speed itself is reached, whatever the aim is.
export function publishedWord(standing: PublishedStanding | null): string {
  return standing ? kStandings[standing.verdict] : "";
}

// "reached: 1.004 ×, above 0.999 × with 95 % confidence; from 0.998 × on it prints alike"
export function standingWords({ verdict, line, confidence, ...standing }: PublishedStanding) {
  const { speed, speed_low: low, speed_high: high } = standing;
  const sure = `with ${formatPercent(confidence, 0)} confidence`;
  const bounds = {
    reached: `above ${formatNumber(low)} × ${sure}`,
    not_reached: `below ${formatNumber(high)} × ${sure}`,
    not_decided: `above ${formatNumber(low)} × and below ${formatNumber(high)} ×, each ${sure}, more runs would decide`,
  };
  return (
    `${kStandings[verdict]}: ${formatNumber(speed)} ×, ${bounds[verdict]}; ` +
    `from ${formatNumber(line)} × on it prints alike`
  );
}
