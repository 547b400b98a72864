// Where the page is: the URL is the only place that state which a link should carry lives in.
import { signal } from "@preact/signals";
import { pushEntry, replaceEntry, startEntries, stepToEntry } from "./scroll_places";

export interface Place {
  path: string;
  query: URLSearchParams;
}

const kPages = {
  "/": "board",
  "/index.html": "board",
  "/runs": "runs",
  "/compare": "compare",
  "/scaling": "scaling",
  "/history": "history",
  "/failures": "failures",
  "/references": "references",
  "/jobs": "jobs",
  "/health": "health",
} as const;

export type PageName = (typeof kPages)[keyof typeof kPages];

export type Page = { name: PageName | "unknown" } | { name: "run" | "job"; id: number };

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export const place = signal<Place>({ path: "/", query: new URLSearchParams() });

// The page that "back" or "forward" has just left: what had the focus there is gone, and the page
// that is come to gives it a place. Null where a link led to the page.
export const steppedFrom = signal<Page | null>(null);

export function pageOf(path: string): Page {
  const plain = path.length > 1 ? path.replace(/\/$/, "") : path;
  if (plain in kPages) return { name: kPages[plain as keyof typeof kPages] };
  const match = /^\/(run|job)s\/(\d{1,15})$/.exec(plain);
  return match ? { name: match[1] as "run" | "job", id: Number(match[2]) } : { name: "unknown" };
}

export function hrefOf(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

interface Step {
  replace?: boolean; // it is not a step that "back" should undo, such as typing in a filter
  opens?: string; // the part of the page that it opens, and "back" closes
}

export function navigate(href: string, { replace = false, opens = "" }: Step = {}): void {
  if (replace) replaceEntry(href);
  else pushEntry(href, opens);
  steppedFrom.value = null;
  place.value = here();
}

// To another page, as a link does: it begins at its top, and has the focus.
export function visit(href: string): void {
  navigate(href);
  window.scrollTo(0, 0);
  document.getElementById("main")?.focus({ preventScroll: true });
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = (event.target as Element | null)?.closest("a");
  if (!anchor || anchor.origin !== location.origin || anchor.target) return;
  if (pageOf(anchor.pathname).name === "unknown" || anchor.hash) return;
  event.preventDefault();
  visit(anchor.pathname + anchor.search);
}

// The table of runs was the home page once: links to it with a filter lead there still.
function movedHome(): void {
  const { path, query } = here();
  const isOfRuns = ["q", "status", "sort", "pick", "experiment", "rows"].some((key) =>
    query.has(key),
  );
  if (path === "/" && isOfRuns) replaceEntry(hrefOf("/runs", query));
}

export function startRouting(): void {
  startEntries();
  movedHome();
  place.value = here();
  addEventListener("popstate", () => {
    stepToEntry();
    steppedFrom.value = pageOf(place.value.path);
    place.value = here();
  });
  document.addEventListener("click", onClick);
}
