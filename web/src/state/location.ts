// Where the page is: the URL is the only place that state which a link should carry lives in.
import { signal } from "@preact/signals";

export interface Place {
  path: string;
  query: URLSearchParams;
}

export type Page =
  | { name: "runs" | "compare" | "scaling" | "unknown" }
  | { name: "run"; id: number };

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export const place = signal<Place>({ path: "/", query: new URLSearchParams() });

export function pageOf(path: string): Page {
  if (path === "/" || path === "/index.html") return { name: "runs" };
  if (path === "/compare") return { name: "compare" };
  if (path === "/scaling") return { name: "scaling" };
  const match = /^\/runs\/(\d{1,15})\/?$/.exec(path);
  return match ? { name: "run", id: Number(match[1]) } : { name: "unknown" };
}

export function hrefOf(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

// `replace` for what is not a step that "back" should undo, such as typing in a filter.
export function navigate(href: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  place.value = here();
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = (event.target as Element | null)?.closest("a");
  if (!anchor || anchor.origin !== location.origin || anchor.target) return;
  if (pageOf(anchor.pathname).name === "unknown" || anchor.hash) return;
  event.preventDefault();
  navigate(anchor.pathname + anchor.search);
  window.scrollTo(0, 0);
  document.getElementById("main")?.focus({ preventScroll: true });
}

export function startRouting(): void {
  place.value = here();
  addEventListener("popstate", () => {
    place.value = here();
  });
  document.addEventListener("click", onClick);
}
