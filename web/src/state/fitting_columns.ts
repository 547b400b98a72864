// Which columns of a table stand side by side in the room that there is. Pure.

// Those that are needed most, in their order; the most needed one always. No lesser one is kept for
// being narrow: what goes first is the same at every width.
export function fittingColumns<T extends { width: number }>(
  columns: readonly T[],
  available: number,
  needOf: (column: T) => number,
): T[] {
  const byNeed = [...columns].sort((a, b) => needOf(b) - needOf(a));
  const fitting = new Set(byNeed.slice(0, 1));
  let width = 0;
  for (const column of byNeed) {
    width += column.width;
    if (width > available) break;
    fitting.add(column);
  }
  return columns.filter((column) => fitting.has(column));
}
