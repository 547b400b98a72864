// What an address of a page of runs asks for that the page does not know, in words. Pure.
import { kKnownKeys } from "./list_state";
import { quotedNames } from "./quoted_names";

// Empty where it knows all.
export function unknownKeyWords(query: URLSearchParams): string {
  const unknown = [...new Set(query.keys())].filter((key) => !kKnownKeys.includes(key));
  if (unknown.length === 0) return "";
  return `The address asks for ${quotedNames(unknown)}, which this page does not know and leaves out.`;
}
