// Which place of a run's log is looked at: a byte of it, in the URL; and who asked for it, to whom
// the focus returns.
import { signal } from "@preact/signals";
import { queryValue, setQuery } from "./page_query";

const kKey = "log";
export const kLogSectionId = "run-log";

// How often a place was asked for, the same one again included: the end may be elsewhere by now.
export const timesAsked = signal(0);

let asker: HTMLElement | null = null;
let isFocusWanted = false;

// Null: the log is not looked at; "end": its last lines.
export function logPlace(): number | "end" | null {
  const text = queryValue(kKey);
  if (text === "end") return "end";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

// The log's own buttons keep the focus; from elsewhere it goes to the lines, once they are there.
export function lookAtLog(offset: number | "end"): void {
  const section = document.getElementById(kLogSectionId);
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && !section?.contains(focused)) {
    asker = focused === document.body ? null : focused;
    isFocusWanted = true;
  }
  timesAsked.value += 1;
  setQuery(kKey, String(offset));
  // The section may be drawn first.
  requestAnimationFrame(() =>
    document.getElementById(kLogSectionId)?.scrollIntoView({ block: "start" }),
  );
}

// True once, where the lines are to have the focus.
export function takeFocusWish(): boolean {
  const was = isFocusWanted;
  isFocusWanted = false;
  return was;
}

// The log is closed, by its button or by "back": who was in it is where it was asked for.
// `otherwise`: what has the focus that went with the lines, where nothing on the page asked.
export function returnFromLog(otherwise: HTMLElement | null): void {
  const focused = document.activeElement;
  const isLost = focused === document.body;
  const wasInLog = isLost || document.getElementById(kLogSectionId)?.contains(focused);
  if (asker?.isConnected && wasInLog) asker.focus({ preventScroll: true });
  else if (isLost) otherwise?.focus({ preventScroll: true });
  asker = null;
}

export const closeLog = () => setQuery(kKey, "");
