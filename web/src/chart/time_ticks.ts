// The time axis of a plot: instants that a calendar has names for (midnights, Mondays, first days of
// a month, full hours) in the zone that the page shows, each with its label. Pure.
import { formatInstant, type Zone } from "../format";
import type { Range } from "./scale";

export interface TimeTick {
  at: number; // ms since 1970
  label: string;
}

const kMinuteMs = 60_000;
const kDayMs = 1440 * kMinuteMs;
const kMonthMs = 30.4 * kDayMs;

type Unit = "minute" | "day" | "month";

interface Step {
  unit: Unit;
  count: number;
}

const kUnitMs: Record<Unit, number> = { minute: kMinuteMs, day: kDayMs, month: kMonthMs };

// Each divides the hour, the day, the week or the year, so that ticks stay where they are in a zoom.
const steps = (unit: Unit, counts: number[]): Step[] => counts.map((count) => ({ unit, count }));
const kSteps: Step[] = [
  ...steps("minute", [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720]),
  ...steps("day", [1, 2, 7, 14]),
  ...steps("month", [1, 2, 3, 6, 12, 24, 60, 120]),
];

// A month of a year, a day of it and a minute of that, as the zone's clocks and calendars show them;
// what overflows carries.
function instantOf(zone: Zone, year: number, month: number, day: number, minute = 0): number {
  return zone === "utc"
    ? Date.UTC(year, month, day, 0, minute)
    : new Date(year, month, day, 0, minute).getTime();
}

const kMonday = 4; // days after 1970-01-01

// The last instant of the step at `from` or before it, and those that follow, without end.
function* instants({ unit, count }: Step, from: number, zone: Zone): Generator<number> {
  const then = new Date(from);
  const [year, month, day] =
    zone === "utc"
      ? ([then.getUTCFullYear(), then.getUTCMonth(), then.getUTCDate()] as const)
      : ([then.getFullYear(), then.getMonth(), then.getDate()] as const);
  if (unit === "month") {
    const index = 12 * year + month;
    for (let at = index - (index % count); ; at += count) {
      yield instantOf(zone, Math.floor(at / 12), at % 12, 1);
    }
  }
  const dayIndex = Math.floor(Date.UTC(year, month, day) / kDayMs) - kMonday;
  const begin = unit === "day" ? day - (dayIndex % count) : day;
  for (let at = 0; ; at += count) {
    yield unit === "day"
      ? instantOf(zone, year, month, begin + at)
      : instantOf(zone, year, month, begin, at);
  }
}

function instantsWithin(step: Step, { min, max }: Range, zone: Zone): number[] {
  const found: number[] = [];
  for (const at of instants(step, min, zone)) {
    if (at > max) return found;
    if (at >= min && at !== found.at(-1)) found.push(at);
  }
  return found;
}

function labelOf(at: number, { unit, count }: Step, zone: Zone): string {
  const text = formatInstant(new Date(at).toISOString(), zone); // "2026-09-26 06:00"
  if (unit === "minute") return text.slice(5);
  if (unit === "day") return text.slice(0, 10);
  return text.slice(0, count % 12 === 0 ? 4 : 7);
}

// Within `range` (ms since 1970) as many as fit, at most `count`; the beginning of the range where
// it holds none.
export function timeTicks(range: Range, count: number, zone: Zone): TimeTick[] {
  const span = range.max - range.min;
  for (const step of kSteps) {
    if (span / (step.count * kUnitMs[step.unit]) > count + 1) continue;
    const found = instantsWithin(step, range, zone);
    if (found.length === 0) break;
    if (found.length <= count) return found.map((at) => ({ at, label: labelOf(at, step, zone) }));
  }
  return [{ at: range.min, label: labelOf(range.min, { unit: "minute", count: 1 }, zone) }];
}
