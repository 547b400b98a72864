// The ways a chart leaves the page: its numbers as Markdown or CSV, the picture as PNG.
import { CopyTable, type Exported } from "./copy_buttons";
import { savePng } from "./pictures";

interface Props {
  name: string; // of the file
  table: () => Exported;
  pictures: () => Iterable<HTMLCanvasElement | SVGSVGElement>;
}

export function PlotCopies({ name, table, pictures }: Props) {
  const save = () => {
    const all = [...pictures()];
    all.forEach((picture, at) => {
      void savePng(picture, all.length > 1 ? `${name}-${at + 1}` : name);
    });
  };
  return (
    <details class="plot-copies no-print">
      <summary>Copy</summary>
      <CopyTable table={table} />
      <button type="button" class="quiet copy" onClick={save}>
        Save as PNG
      </button>
    </details>
  );
}

// What a table on the page says, as it stands there.
export function tableOnPage(table: HTMLTableElement | null | undefined): Exported {
  const cells = (row: HTMLTableRowElement) =>
    [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim());
  const head = table?.tHead?.rows[0];
  return {
    heads: head ? cells(head) : [],
    rows: [...(table?.tBodies[0]?.rows ?? [])].map(cells),
  };
}
