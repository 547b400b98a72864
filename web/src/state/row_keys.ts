// Keys of the table of runs: j and k move the active row, x picks it, c compares what is picked.
// They act while the focus is in the table, so that no single letter does anything elsewhere; only
// / leads to the search field from anywhere.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Run } from "../api/types";
import { kPicksMax } from "./picks";
import type { RowRange } from "./virtual_rows";

interface Table {
  runs: Run[];
  picks: number[];
  onPick: (id: number) => void;
  onCompare: () => void;
}

const kTable = "table.runs";

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest("input, select, textarea, summary") !== null;

function firstInSight(body: HTMLElement | null, rowHeight: number): number {
  const top = body?.getBoundingClientRect().top ?? 0;
  return Math.max(0, Math.ceil(-top / rowHeight));
}

function bringIntoSight(body: HTMLElement | null, row: number, rowHeight: number): void {
  const top = (body?.getBoundingClientRect().top ?? 0) + row * rowHeight;
  const head = 2 * rowHeight;
  if (top < head) scrollBy(0, top - head);
  else if (top + 2 * rowHeight > innerHeight) scrollBy(0, top + 2 * rowHeight - innerHeight);
}

function rowAround(target: EventTarget | null): number | null {
  const row = target instanceof Element ? target.closest<HTMLElement>("tr[data-run]") : null;
  return row ? Number(row.dataset.run) : null;
}

function goToSearch(event: KeyboardEvent): void {
  document.querySelector<HTMLInputElement>('input[type="search"]')?.focus();
  event.preventDefault();
}

// Whether the reader is in the table. A row that is scrolled away takes the focus with it, and its
// reader is there still until something else is pressed.
function usePresence(): (target: EventTarget | null) => boolean {
  const wasLast = useRef(false);
  useLayoutEffect(() => {
    const note = ({ target }: Event) => {
      wasLast.current = target instanceof Element && target.closest(kTable) !== null;
    };
    addEventListener("focusin", note);
    addEventListener("pointerdown", note);
    return () => {
      removeEventListener("focusin", note);
      removeEventListener("pointerdown", note);
    };
  }, []);
  return (target) =>
    target === document.body
      ? wasLast.current
      : target instanceof Element && target.closest(kTable) !== null;
}

// Gives the run of the active row, which is active wherever the list moves it to.
export function useRowKeys(
  body: { current: HTMLTableSectionElement | null },
  range: RowRange,
  rowHeight: number,
  { runs, picks, onPick, onCompare }: Table,
): number | null {
  const [active, setActive] = useState<number | null>(null);
  // Keys may come faster than the page is drawn. `at`: of when it was moved to.
  const now = useRef<{ id: number; at: number } | null>(null);
  const focused = useRef<number | null>(null); // the row that was given the focus last
  const isInTable = usePresence();
  useLayoutEffect(() => {
    // Of a run that has left the list, the row that it had.
    const placeOf = ({ id, at }: { id: number; at: number }) => {
      const found = runs.findIndex((run) => run.id === id);
      return found < 0 ? at : found;
    };
    const move = (to: number) => {
      const next = Math.min(Math.max(to, 0), runs.length - 1);
      const run = runs[next];
      if (!run) return;
      bringIntoSight(body.current, next, rowHeight);
      now.current = { id: run.id, at: next };
      setActive(run.id);
    };
    // A row that the reader gave the focus by other means is where the keys go on.
    const takeUp = (target: EventTarget | null) => {
      const id = rowAround(target);
      if (id === null || id === focused.current || id === now.current?.id) return;
      now.current = { id, at: runs.findIndex((run) => run.id === id) };
      focused.current = id;
      setActive(id);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/" && !isTyping(event.target)) return goToSearch(event);
      if (!"jkxc".includes(event.key) || !isInTable(event.target)) return;
      takeUp(event.target);
      const at = now.current && placeOf(now.current);
      const run = runs.find(({ id }) => id === now.current?.id);
      if (event.key === "j") move(at === null ? firstInSight(body.current, rowHeight) : at + 1);
      else if (event.key === "k") move(at === null ? 0 : at - 1);
      else if (event.key === "x" && run && (picks.includes(run.id) || picks.length < kPicksMax)) {
        onPick(run.id);
      } else if (event.key === "c") onCompare();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [runs, picks, rowHeight]);
  // A row that was drawn anew gets the focus back, which went with it; one that the keys moved to
  // takes it from elsewhere in the table. A reader who has gone elsewhere is not called back.
  useLayoutEffect(() => {
    if (active === null) return;
    const holder = document.activeElement;
    const isNew = focused.current !== active && rowAround(holder) !== active;
    if (!isInTable(holder) || !(isNew || holder === document.body)) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-run="${active}"] a.name`);
    if (!link) return;
    link.focus({ preventScroll: true });
    focused.current = active;
  }, [active, range]);
  return active;
}
