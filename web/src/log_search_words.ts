// What the search in a log says of what it found. Pure.
import { formatBytes, formatPlural } from "./format";
import type { Found } from "./state/log_search";

export function foundWords({ phase, lines, searchedBytes, sizeBytes, hasGaps }: Found): string {
  if (phase === "idle") return "";
  const count = formatPlural(lines.length, "line");
  const gaps = hasGaps ? " Some of the log is not on this server." : "";
  if (phase === "done") return `${lines.length === 0 ? "No line holds it." : `${count}.`}${gaps}`;
  if (sizeBytes === 0) return "Looking through the log …";
  const part = `${formatBytes(searchedBytes)} of ${formatBytes(sizeBytes)} looked through`;
  return `${count} so far, ${part}.${gaps}`;
}

// The text, cut where `wanted` stands in it, in any case: every second part is it.
export function markedParts(text: string, wanted: string): string[] {
  const lower = text.toLowerCase();
  const key = wanted.toLowerCase();
  if (key === "" || lower.length !== text.length || key.length !== wanted.length) return [text];
  const parts: string[] = [];
  let from = 0;
  for (let at = lower.indexOf(key); at >= 0; at = lower.indexOf(key, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + key.length));
    from = at + key.length;
  }
  return [...parts, text.slice(from)];
}
