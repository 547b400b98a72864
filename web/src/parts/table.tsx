// A plain table of text that scrolls sideways inside its own region, so that it never widens the
// page. The first cell of each row is its header.
import type { ComponentChildren } from "preact";

interface Props {
  name: string; // for those who do not see it
  heads: string[]; // with a "#" before it: a column of numbers
  rows: ComponentChildren[][];
  isTall?: boolean; // scrolls up and down, too
}

export function Table({ name, heads, rows, isTall = false }: Props) {
  const isNumeric = heads.map((head) => head.startsWith("#"));
  const cellClass = (at: number) => (isNumeric[at] ? "number" : undefined);
  return (
    <div
      class={isTall ? "scroll tall" : "scroll"}
      tabIndex={0}
      role="region"
      aria-label={`Table: ${name}`}
    >
      <table class="plain">
        <thead>
          <tr>
            {heads.map((head, at) => (
              <th key={head} scope="col" class={cellClass(at)}>
                {head.replace(/^#/, "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) =>
                at === 0 ? (
                  <th key={at} scope="row" class={cellClass(at)}>
                    {cell}
                  </th>
                ) : (
                  <td key={at} class={cellClass(at)}>
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
