// The ways a chart leaves the page: its numbers as Markdown or CSV, what it draws as PNG.
import { CopyTable, type Exported } from "./copy_buttons";
import { type Picture, savePng } from "./pictures";

interface Props {
  name: string; // of the file
  of: string; // the chart, among others of its page
  table: () => Exported;
  pictures: () => Iterable<Picture>;
}

export function PlotCopies({ name, of, table, pictures }: Props) {
  return (
    <details class="plot-copies no-print" aria-label={`Copy: ${of}`}>
      <summary aria-label={`Copy: ${of}`}>Copy</summary>
      <CopyTable table={table} />
      <button type="button" class="quiet copy" onClick={() => void savePng(pictures(), name)}>
        Save as PNG
      </button>
    </details>
  );
}
