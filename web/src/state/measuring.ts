// What every run of a page is measured over, which stands in the URL by the API's names; and the way
// from there to one of the runs.
import { hrefOf } from "./location";
import { apiParameters } from "./page_query";

// Of the API's parameters.
export const kMeasuringKeys = ["window", "without", "include"] as const;

// Which steps of a run count.
const kStepsKeys = ["window", "without"] as const;

export const measuredOver = () => apiParameters(kStepsKeys);

// The page of a run over the page's own window, and without the steps that the page leaves out.
export function measuredRunHref(id: number): string {
  return hrefOf(`/runs/${id}`, measuredOver());
}
