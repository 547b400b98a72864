// Whether asking again can change a refusal of the API. Pure.

const kBadRequest = 400;
const kNotFound = 404;
const kGone = 410; // removed on purpose: does not come again

// `isPage`: it is what the whole page was to show. A part of a page, such as a log, may come later.
export function isFinal(status: number, isPage: boolean): boolean {
  return status === kGone || (isPage && (status === kBadRequest || status === kNotFound));
}
