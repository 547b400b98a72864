// What the search in a log says of what it found. Pure.
import { formatBytes, formatPlural } from "./format";
import { isExpression, type Found } from "./state/log_search";

// `sizeNow`: the log's bytes by now.
export const hasGrown = ({ phase, sizeBytes }: Found, sizeNow: number) =>
  phase === "done" && sizeNow > sizeBytes;

export function foundWords(found: Found, sizeNow = 0): string {
  const { phase, lines, searchedBytes, sizeBytes, hasGaps } = found;
  if (phase === "idle") return "";
  const count = formatPlural(lines.length, "line");
  const gaps = hasGaps ? " Some of the log is not on this server." : "";
  if (phase === "done") {
    const grown = hasGrown(found, sizeNow) ? " The log has grown since." : "";
    return `${lines.length === 0 ? "No line holds it." : `${count}.`}${grown}${gaps}`;
  }
  if (sizeBytes === 0) return phase === "searching" ? "Looking through the log …" : "";
  const part = `${formatBytes(searchedBytes)} of ${formatBytes(sizeBytes)} looked through`;
  return `${count} so far, ${part}.${gaps}`;
}

// An expression without an operator: its letters as they are, others perhaps after a backslash.
const kPlainExpression = /^\/((?:[^\\/^$.|?*+()[\]{}]|\\[^A-Za-z0-9])+)\/(i?)$/;

// The text, cut where `wanted` stands in it: every second part is it. What an expression with
// operators finds only the server can tell.
export function markedParts(text: string, wanted: string): string[] {
  const plain = kPlainExpression.exec(wanted);
  if (!plain && isExpression(wanted)) return [text];
  const sought = plain?.[1]?.replace(/\\(.)/g, "$1") ?? wanted;
  const isOfAnyCase = !plain || plain[2] === "i";
  const lower = isOfAnyCase ? text.toLowerCase() : text;
  const key = isOfAnyCase ? sought.toLowerCase() : sought;
  if (key === "" || lower.length !== text.length || key.length !== sought.length) return [text];
  const parts: string[] = [];
  let from = 0;
  for (let at = lower.indexOf(key); at >= 0; at = lower.indexOf(key, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + key.length));
    from = at + key.length;
  }
  return [...parts, text.slice(from)];
}
