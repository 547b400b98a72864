// Changes one parameter of the URL's query, and leaves the page where it is.
import { hrefOf, navigate, place } from "./location";

export function setQuery(key: string, value: string): void {
  const query = new URLSearchParams(place.value.query);
  if (value) query.set(key, value);
  else query.delete(key);
  navigate(hrefOf(place.value.path, query), { replace: true });
}

export function queryValue(key: string): string {
  return place.value.query.get(key) ?? "";
}

// Of the page's query, what the API knows by the same names.
export function apiParameters(keys: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const key of keys) if (queryValue(key)) query.set(key, queryValue(key));
  return query;
}
