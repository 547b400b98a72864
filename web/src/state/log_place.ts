// Which place of a run's log is looked at: a byte of it, in the URL.
import { queryValue, setQuery } from "./page_query";

const kKey = "log";
export const kLogSectionId = "run-log";

// Null: the log is not looked at; "end": its last lines.
export function logPlace(): number | "end" | null {
  const text = queryValue(kKey);
  if (text === "end") return "end";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export function lookAtLog(offset: number | "end"): void {
  setQuery(kKey, String(offset));
  // The section may be drawn first.
  requestAnimationFrame(() =>
    document.getElementById(kLogSectionId)?.scrollIntoView({ block: "start" }),
  );
}

export function closeLog(): void {
  setQuery(kKey, "");
}
