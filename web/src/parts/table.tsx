// A plain table of text that scrolls sideways inside its own region, so that it never widens the
// page, or is stacked on narrow screens. The first cell of each row is its header.
import type { ComponentChildren } from "preact";

interface Props {
  name: string; // for those who do not see it
  heads: string[]; // with a "#" before it: a column of numbers
  rows: ComponentChildren[][];
  isTall?: boolean; // scrolls up and down, too
  isStacked?: boolean; // where its columns do not fit, each row is a card
}

export function Table({ name, heads, rows, isTall = false, isStacked = false }: Props) {
  const isNumeric = heads.map((head) => head.startsWith("#"));
  const cellClass = (at: number) => (isNumeric[at] ? "number" : undefined);
  const words = heads.map((head) => head.replace(/^#/, ""));
  return (
    <div
      class={isTall ? "scroll tall" : "scroll"}
      tabIndex={0}
      role="region"
      aria-label={`Table: ${name}`}
    >
      <table class={isStacked ? "plain stacked" : "plain"} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {heads.map((head, at) => (
              <th key={head} role="columnheader" scope="col" class={cellClass(at)}>
                {words[at]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((cells, row) => (
            <tr key={row} role="row">
              {cells.map((cell, at) =>
                at === 0 ? (
                  <th key={at} role="rowheader" scope="row" class={cellClass(at)}>
                    {cell}
                  </th>
                ) : (
                  <td key={at} role="cell" class={cellClass(at)} data-label={words[at]}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
