// The table of runs, of any length: only the rows on the screen are there, or those that paper has.
// Roles are spelled out because narrow screens lay rows out as cards, and browsers drop a table's
// meaning when its display changes.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Run } from "../api/types";
import { runName } from "../parts/values";
import { fittingColumns } from "../state/fitting_columns";
import { useFocusOnReturn } from "../state/focus_on_return";
import { sortDirection, type SortDirection } from "../state/list_state";
import { columnsWithoutRoom } from "../state/columns";
import { isPrinted, kPrintedRowsMax } from "../state/paper";
import { kPicksMax } from "../state/picks";
import { useRowKeys } from "../state/row_keys";
import {
  isHurried,
  kRowsBeside,
  rowLayout,
  visibleRows,
  type RowLayout,
  type RowRange,
} from "../state/virtual_rows";
import { kNameColumn, needOf, type Column } from "./runs_columns";

const kPickWidth = 38;

interface Props {
  runs: Run[]; // as far as they are loaded
  rowCount: number; // of which `runs` are loaded
  columns: Column[];
  sort: string;
  isBusy: boolean;
  picks: number[];
  onPick: (id: number) => void;
  onCompare: () => void; // what is picked
  onSort: (key: string, first: SortDirection) => void;
  onLook: (end: number) => void; // one past the last row that is looked at
}

// How many of the loaded rows paper has.
export const printedRows = (loaded: number) => Math.min(loaded, kPrintedRowsMax);

function columnClass(column: Column): string {
  return `${column.isNumeric ? "number " : ""}col-${column.key}`;
}

export function RunsTable(props: Props) {
  const { runs, rowCount, sort, isBusy, onSort } = props;
  const table = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const { layout, columns } = useLayout(table, props.columns);
  const range = useVisibleRange(body, layout.rowHeight, rowCount);
  useEffect(() => props.onLook(range.end), [range.end, runs]);
  const active = useRowKeys(body, range, layout.rowHeight, props);
  useFocusOnReturn(body, range);

  const drawn = isPrinted.value ? { first: 0, end: printedRows(runs.length) } : range;

  const heightOf = (rows: number) => ({ height: `${rows * layout.rowHeight}px` });
  return (
    <table
      ref={table}
      class={layout.isCards ? "runs as-cards" : "runs"}
      role="table"
      aria-busy={isBusy}
      aria-rowcount={rowCount + 1}
      style={{ "--row-height": `${layout.rowHeight}px`, "--card-columns": layout.cardColumns }}
    >
      <caption class="visually-hidden">
        Runs, one row for each training log. Keys in it: j and k move, Enter opens, x picks, c
        compares what is picked.
      </caption>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <th role="columnheader" scope="col" class="col-pick">
            <span class="visually-hidden">Compare</span>
          </th>
          {columns.map((column) => (
            <Header key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" ref={body}>
        <tr class="spacer" role="presentation" style={heightOf(drawn.first)} />
        {Array.from({ length: drawn.end - drawn.first }, (_, offset) => {
          const at = drawn.first + offset;
          const run = runs[at];
          return run ? (
            <Row
              key={run.id}
              {...props}
              columns={columns}
              run={run}
              at={at}
              isActive={active === run.id}
            />
          ) : (
            <Awaited key={`at ${at}`} at={at} columns={columns} />
          );
        })}
        <tr class="spacer" role="presentation" style={heightOf(rowCount - drawn.end)} />
      </tbody>
    </table>
  );
}

function useLayout(
  table: { current: HTMLTableElement | null },
  wanted: Column[],
): { layout: RowLayout; columns: Column[] } {
  const [available, setAvailable] = useState(() => document.documentElement.clientWidth - 80);
  useLayoutEffect(() => {
    const frame = table.current?.parentElement;
    if (!frame) return;
    const measure = () => setAvailable(frame.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  const laid = useMemo(() => {
    const doubles = wanted.filter(({ key }) => key === "status").length; // has the cause, too
    const room = available - kPickWidth;
    const layout = rowLayout(room, wanted.length - 1 + doubles);
    const columns = layout.isCards ? wanted : fittingColumns(wanted, room, needOf);
    return { layout, columns };
  }, [available, wanted]);
  useEffect(() => {
    const without = wanted.filter((column) => !laid.columns.includes(column));
    columnsWithoutRoom.value = without.map(({ key }) => key);
    return () => (columnsWithoutRoom.value = []);
  }, [laid]);
  return laid;
}

const kAtRestAfterMs = 120;

function useVisibleRange(
  body: { current: HTMLTableSectionElement | null },
  rowHeight: number,
  total: number,
): RowRange {
  const [range, setRange] = useState<RowRange>(() =>
    visibleRows(0, window.innerHeight, rowHeight, total, kRowsBeside.inAHurry),
  );
  // Where it was; the first view is in a hurry, too: what is on the screen comes first.
  const lastTop = useRef(-Infinity);
  useLayoutEffect(() => {
    let rest: ReturnType<typeof setTimeout>;
    const measure = () => {
      const top = -(body.current?.getBoundingClientRect().top ?? 0);
      const isFast = isHurried(top - lastTop.current, window.innerHeight);
      lastTop.current = top;
      clearTimeout(rest);
      if (isFast) rest = setTimeout(measure, kAtRestAfterMs);
      const beside = isFast ? kRowsBeside.inAHurry : kRowsBeside.atRest;
      const next = visibleRows(top, window.innerHeight, rowHeight, total, beside);
      setRange((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    measure();
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      clearTimeout(rest);
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, [rowHeight, total]);
  return range.end > total || range.first > total
    ? { first: 0, end: Math.min(range.end, total) }
    : range;
}

function Header({ column, sort, onSort }: { column: Column } & Pick<Props, "sort" | "onSort">) {
  const { sort: order } = column;
  const direction = order ? sortDirection(sort, order.key) : null;
  return (
    <th
      role="columnheader"
      scope="col"
      class={columnClass(column)}
      title={column.hint}
      style={column === kNameColumn ? undefined : { width: `${column.width}px` }}
      {...(order ? { "aria-sort": direction ?? "none" } : {})}
    >
      {order ? (
        <button type="button" class="sort" onClick={() => onSort(order.key, order.first)}>
          {column.title}
          {direction && (
            <span class="arrow" aria-hidden="true">
              {direction === "ascending" ? "↑" : "↓"}
            </span>
          )}
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

interface RowProps extends Pick<Props, "columns" | "picks" | "onPick"> {
  run: Run;
  at: number;
  isActive: boolean;
}

// Its cells are kept as they are until the run changes; the ages in them keep themselves up to
// date.
function Row({ run, at, columns, picks, isActive, onPick }: RowProps) {
  const isPicked = picks.includes(run.id);
  const cells = useMemo(
    () =>
      columns.map((column) =>
        column === kNameColumn ? (
          <th key={column.key} role="rowheader" scope="row" class={columnClass(column)}>
            {column.cell(run)}
          </th>
        ) : (
          <td key={column.key} role="cell" class={columnClass(column)} data-label={column.title}>
            {column.cell(run)}
          </td>
        ),
      ),
    [run, columns],
  );
  return (
    <tr
      role="row"
      aria-rowindex={at + 2}
      class={isActive ? "is-active" : undefined}
      data-run={run.id}
      data-revision={run.revision}
    >
      <td role="cell" class="col-pick" data-label="Compare">
        <input
          type="checkbox"
          aria-label={`Compare run ${run.id}, ${runName(run)}`}
          checked={isPicked}
          disabled={!isPicked && picks.length >= kPicksMax}
          onChange={() => onPick(run.id)}
        />
      </td>
      {cells}
    </tr>
  );
}

// A row whose run is still on its way.
function Awaited({ at, columns }: { at: number; columns: Column[] }) {
  return (
    <tr role="row" aria-rowindex={at + 2} class="awaited">
      <td role="cell" colSpan={columns.length + 1}>
        …
      </td>
    </tr>
  );
}
