// Days of launches, in the zone that the page shows, and the instants that stand for them in an
// address: `since`, the begin of the first day, and `before`, that of the day after the last one.
// Pure.
import { formatDay, formatInstant, kUnknown, parseInstant, type Zone } from "../format";

const kYearMin = 1970;
const kYearMax = 9998; // the day after the last one still has four digits of a year

// A day as a date field has it. While a year is typed it has days such as 0002-01-01, too.
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseInstant(text) : null;
  return at !== null && at.getUTCFullYear() >= kYearMin && at.getUTCFullYear() <= kYearMax;
}

// When a day begins, or the one that is `later` days after it. Not each has 24 hours.
function dayBegin(day: string, zone: Zone, later: number): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return zone === "utc"
    ? new Date(Date.UTC(year, month - 1, date + later))
    : new Date(year, month - 1, date + later);
}

// A bare date is the begin of its day in UTC, as the API reads it, too.
function boundText(at: Date): string {
  const [date = "", time = ""] = at.toISOString().split("T");
  return time === "00:00:00.000Z" ? date : `${date}T${time.slice(0, 8)}Z`;
}

export function hasLaunchBounds({ since, before }: { since: string; before: string }): boolean {
  return since !== "" || before !== "";
}

export function sinceDay(day: string, zone: Zone): string {
  return boundText(dayBegin(day, zone, 0));
}

export function beforeDayAfter(day: string, zone: Zone): string {
  return boundText(dayBegin(day, zone, 1));
}

const dayOf = (at: Date, zone: Zone) => formatDay(at.toISOString(), zone);

// The day that holds the instant; empty where there is none.
export function firstDay(since: string, zone: Zone): string {
  const at = parseInstant(since);
  return at ? dayOf(at, zone) : "";
}

// The day that holds the last moment before the instant; empty where there is none.
export function lastDay(before: string, zone: Zone): string {
  const at = parseInstant(before);
  return at ? dayOf(new Date(at.getTime() - 1), zone) : "";
}

const isSame = (one: string, other: string) =>
  parseInstant(one)?.getTime() === parseInstant(other)?.getTime();

function instantWords(text: string, zone: Zone): string {
  const shown = formatInstant(text, zone);
  return shown === kUnknown ? text : shown;
}

// "2025-12-20 to 2025-12-22"; what is no whole day, as an address may have it, to the minute.
export function launchWords(since: string, before: string, zone: Zone): string {
  if (!since && !before) return "any";
  const first = firstDay(since, zone);
  const last = lastDay(before, zone);
  const begin = first && isSame(sinceDay(first, zone), since) ? first : instantWords(since, zone);
  const isWhole = last !== "" && isSame(beforeDayAfter(last, zone), before);
  if (!before) return `from ${begin}`;
  const end = isWhole ? `to ${last}` : `before ${instantWords(before, zone)}`;
  if (!since) return end;
  if (!isWhole) return `from ${begin}, ${end}`;
  return begin === last ? last : `${begin} ${end}`;
}
