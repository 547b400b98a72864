// Where the table of runs was left: its address with filters and order, and how far it was
// scrolled. Kept for as long as the page lives.
import { signal } from "@preact/signals";

export const runsHref = signal("/runs");

const scrolledTo = new Map<string, number>(); // by what the list asks for

export function rememberScroll(listKey: string, top: number): void {
  scrolledTo.set(listKey, top);
}

export function rememberedScroll(listKey: string): number {
  return scrolledTo.get(listKey) ?? 0;
}
