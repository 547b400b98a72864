// A refusal of the API in words for people, and whether asking again can change it. Pure.

const kBadRequest = 400;
const kNotFound = 404;
const kGone = 410; // removed on purpose: does not come again

// The advice that is meant for programs: "; GET /api/v1/runs lists those there are."
const kAdvice = /[;.]? (GET|POST|DELETE) \/api\/v1\/\S+ lists those there are\./g;

export function plainDetail(detail: string): string {
  return detail.replace(kAdvice, ".");
}

// `isPage`: it is what the whole page was to show. A part of a page, such as a log, may come later.
export function isFinal(status: number, isPage: boolean): boolean {
  return status === kGone || (isPage && (status === kBadRequest || status === kNotFound));
}
