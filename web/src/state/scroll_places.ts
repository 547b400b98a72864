// How far each entry of the browser's history was scrolled, so that "back" and "forward" lead to
// where the reader was. Whatever changes the history does so by this.
import { kBeginsWithinMs } from "../api/client";

interface Entry {
  entry: string; // its name
  top: number; // px
  opens?: string; // what it opened of the page of the entry before
}

// By entry: of one that a step has left, the browser's own history cannot be told any more.
const tops = new Map<string, number>();
let present = "";
let wasStep = false;
let stopReturning = () => {};

// Whether "back" or "forward" led here: then the place is that of the entry.
export const isReturn = () => wasStep;

const newName = () => String(Math.random());

function nameEntry(entry: string, top: number): void {
  present = entry;
  history.replaceState({ entry, top, opens: openedBy() } satisfies Entry, "");
}

// What the present entry opened; empty: nothing.
export const openedBy = () => (history.state as Entry | null)?.opens ?? "";

// A page whose content is on its way is too short yet, and one that is left is as long as it was:
// each time that it grows or shrinks it is scrolled again, until the reader does something, and no
// longer than an answer may take to begin: then a page says that it has none.
function returnTo(top: number): void {
  stopReturning();
  const app = document.getElementById("app");
  if (!app) return;
  const observer = new ResizeObserver(() => scrollTo(0, top));
  observer.observe(app);
  const done = new AbortController();
  const stop = () => {
    observer.disconnect();
    done.abort();
    clearTimeout(timer);
  };
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(act, stop, { signal: done.signal, passive: true, capture: true });
  }
  const timer = setTimeout(stop, kBeginsWithinMs);
  stopReturning = stop;
}

function goToPresent(): void {
  const state = history.state as Entry | null;
  wasStep = state !== null;
  if (state === null) return nameEntry(newName(), scrollY); // where the browser led
  present = state.entry;
  returnTo(tops.get(present) ?? state.top);
}

export function startEntries(): void {
  history.scrollRestoration = "manual"; // the browser would scroll before the content is there
  goToPresent();
  addEventListener("pagehide", () => nameEntry(present, scrollY));
}

export function pushEntry(href: string, opens = ""): void {
  stopReturning();
  nameEntry(present, scrollY);
  wasStep = false;
  present = newName();
  history.pushState({ entry: present, top: scrollY, opens } satisfies Entry, "", href);
}

export function replaceEntry(href: string): void {
  history.replaceState(history.state, "", href);
}

// After "back" or "forward": the browser is at another entry, and the page is still the one before.
export function stepToEntry(): void {
  tops.set(present, scrollY);
  goToPresent();
}
