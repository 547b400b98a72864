// What every run of a page is measured over, which stands in the URL by the API's names; and the way
// from there to one of the runs.
import { hrefOf } from "./location";
import { apiParameters } from "./page_query";

// Of the API's parameters.
export const kMeasuringKeys = ["window", "without", "include"] as const;

// The page of a run over the page's own window.
export function measuredRunHref(id: number): string {
  return hrefOf(`/runs/${id}`, apiParameters(["window"]));
}
