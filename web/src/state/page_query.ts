// Changes one parameter of the URL's query, and leaves the page where it is.
import { hrefOf, navigate, place } from "./location";
import { openedBy } from "./scroll_places";
import { askedWindow } from "./window";

// What opens beside the rest of its page: a cell of the board, a run's log, what is found in it. To
// open one is a step; to look at one after another, and to close it, are none more.
const kPanels: readonly string[] = ["cell", "log", "find"];

// A choice of what is shown, which "back" undoes.
export function setQuery(key: string, value: string): void {
  if (value === queryValue(key)) return;
  const query = new URLSearchParams(place.value.query);
  if (value) query.set(key, value);
  else query.delete(key);
  const href = hrefOf(place.value.path, query);
  if (!kPanels.includes(key)) navigate(href);
  else if (queryValue(key) || openedBy() === key) navigate(href, { replace: true });
  else navigate(href, { opens: key });
}

// A window is written as the API takes it, as the page's own field would.
export function queryValue(key: string): string {
  const value = place.value.query.get(key) ?? "";
  return key === "window" ? (askedWindow(value) ?? value) : value;
}

// Of the page's query, what the API knows by the same names.
export function apiParameters(keys: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const key of keys) if (queryValue(key)) query.set(key, queryValue(key));
  return query;
}
