// Whether the page is being printed: paper has the light theme, and nothing on it is scrolled to.
import { signal } from "@preact/signals";

export const kPrintedRowsMax = 500; // of a long table: some twenty sheets

export const isPrinted = signal(false);

function setPrinted(now: boolean): void {
  document.documentElement.classList.toggle("is-printed", now);
  isPrinted.value = now;
}

// Before any chart listens, so that they are drawn in the colours of paper.
export function startPaper(): void {
  addEventListener("beforeprint", () => setPrinted(true));
  addEventListener("afterprint", () => setPrinted(false));
}
