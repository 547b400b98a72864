// The board: every published result, and how the runs of its configuration stand against it. A cell
// is judged by the speed of its runs, where it has any that count. Pure.
import type { PublishedStanding, Reference, Scaling } from "../api/types";
import { formatCount, formatPlural, formatWorkload } from "../format";
import { judge, kStateWords, publishedWord, type CellState } from "./standing";
import { submitCommandOf } from "./submit_command";

export interface BoardCell {
  reference: Reference;
  state: CellState;
  words: string; // the state and what it follows from
  standing: PublishedStanding | null; // of the runs that count
  // Of each kind the ids of those that were launched last, at most kRunsNamed of a point, and how
  // many there are.
  runs: number[]; // that count
  runCount: number;
  variants: number[]; // of another environment, release …: series of their own
  variantCount: number;
  others: number[]; // that do not count: failed, profiled …
  otherCount: number;
  profiled: number[]; // of these: complete, slowed by nothing but a profiler, and no copies
  profiledCount: number;
  repeats: number; // that would fill or decide the cell
}

// As many as a cell shows, and more than a comparison or a certification takes.
export const kRunsNamed = 12;

export interface BoardRow {
  name: string;
  documents: string[]; // of its cells
  gpuType: string;
  workload: string;
  cells: BoardCell[]; // by number of GPUs
}

function keyOf(part: Omit<Reference, "gpu_count"> | Scaling["series"][number], gpus: number) {
  const { workload, model_size, dtype, gpu_type } = part;
  return [formatWorkload(workload), model_size, dtype, gpu_type, gpus].join(" ");
}

interface Measured extends Omit<BoardCell, "reference" | "state" | "words" | "repeats"> {
  marks: Set<string>; // of the runs that do not count
  reference: Reference | null; // the one that the runs' own document has
}

const nothingMeasured = (): Measured => ({
  standing: null,
  runs: [],
  runCount: 0,
  variants: [],
  variantCount: 0,
  others: [],
  otherCount: 0,
  profiled: [],
  profiledCount: 0,
  marks: new Set(),
  reference: null,
});

const isProfiledOnly = (marks: readonly string[]) => marks.join() === "profiled";

function measuredByKey(scaling: Scaling): Map<string, Measured> {
  const found = new Map<string, Measured>();
  const at = (key: string) => {
    const known = found.get(key) ?? nothingMeasured();
    found.set(key, known);
    return known;
  };
  for (const series of scaling.series) {
    for (const { gpu_count, reference } of series.published) {
      at(keyOf(series, gpu_count)).reference ??= reference;
    }
    for (const point of series.points) {
      if (!point.published_standing) continue;
      const cell = at(keyOf(series, point.gpu_count));
      // Runs that differ (in their environment, release …) are series of their own: the one with
      // the most runs fills the cell.
      const ids = point.runs.map(({ id }) => id);
      const { run_count } = point.tokens_per_s_per_gpu;
      if (cell.runCount >= run_count) {
        cell.variants.push(...ids);
        cell.variantCount += run_count;
        continue;
      }
      cell.variants.push(...cell.runs);
      cell.variantCount += cell.runCount;
      cell.standing = point.published_standing;
      cell.runs = ids;
      cell.runCount = run_count;
      const published = series.published.find(({ gpu_count }) => gpu_count === point.gpu_count);
      cell.reference = published?.reference ?? cell.reference;
    }
    for (const run of series.left_out) {
      if (run.gpu_count === null) continue;
      const cell = at(keyOf(series, run.gpu_count));
      cell.others.push(run.id);
      if (run.copy_of !== null) continue;
      if (isProfiledOnly(run.marks.map(({ mark }) => mark))) cell.profiled.push(run.id);
    }
    for (const { gpu_count, marks, are_copies, run_count } of series.left_out_groups) {
      if (gpu_count === null) continue;
      const cell = at(keyOf(series, gpu_count));
      cell.otherCount += run_count;
      if (isProfiledOnly(marks) && !are_copies) cell.profiledCount += run_count;
      for (const mark of marks) cell.marks.add(mark);
    }
  }
  return found;
}

function cellOf(reference: Reference, measured: Measured = nothingMeasured()): BoardCell {
  const { marks, ...base } = { ...measured, reference };
  if (base.standing) {
    return { ...base, ...judge(base.standing, base.runCount) };
  }
  if (marks.has("running")) {
    return { ...base, state: "running", words: "A run is under way.", repeats: 2 };
  }
  if (["failed", "incomplete", "invalid", "no_data"].some((mark) => marks.has(mark))) {
    const words = `${formatPlural(base.otherCount, "run")}, none of them complete.`;
    return { ...base, state: "failed", words, repeats: 3 };
  }
  const words =
    base.otherCount > 0
      ? `${formatPlural(base.otherCount, "run")}, none of which counts as a result (profiled, traced …).`
      : "No run of this configuration was found.";
  return { ...base, state: "missing", words, repeats: 3 };
}

export function documentOf(reference: Reference): string {
  return reference.document ?? `release ${reference.release}`;
}

// Several releases publish the same configuration: the one that the runs belong to counts, then one
// of a document that the catalog knows, then the newest.
function isBetter(a: Reference, b: Reference): boolean {
  if ((a.document === null) !== (b.document === null)) return a.document !== null;
  return a.release.localeCompare(b.release, "en", { numeric: true }) > 0;
}

export function boardRows(references: readonly Reference[], scaling: Scaling): BoardRow[] {
  const measured = measuredByKey(scaling);
  const chosen = new Map<string, Reference>();
  for (const reference of references) {
    if (reference.step_time_s === null) continue;
    const key = keyOf(reference, reference.gpu_count);
    const known = chosen.get(key);
    if (!known || isBetter(reference, known)) chosen.set(key, reference);
  }
  for (const [key, { reference }] of measured) {
    if (reference && reference.step_time_s !== null) chosen.set(key, reference);
  }
  const rows = new Map<string, BoardRow>();
  for (const [key, reference] of chosen) {
    const { workload, model_size, dtype, gpu_type } = reference;
    const document = documentOf(reference);
    const name = [formatWorkload(workload), model_size, dtype].join(" ");
    const rowKey = `${name} ${gpu_type}`;
    const row = rows.get(rowKey) ?? {
      name,
      documents: [],
      gpuType: gpu_type,
      workload: formatWorkload(workload),
      cells: [],
    };
    rows.set(rowKey, row);
    if (!row.documents.includes(document)) row.documents.push(document);
    row.cells.push(cellOf(reference, measured.get(key)));
  }
  for (const { cells } of rows.values()) {
    cells.sort((a, b) => a.reference.gpu_count - b.reference.gpu_count);
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

// When each run that the answer names was launched, or else when its log last grew.
export function launchTimes({ series }: Scaling): Map<number, string> {
  const named = series.flatMap(({ points, left_out }) => [
    ...points.flatMap(({ runs }) => runs),
    ...left_out,
  ]);
  return new Map(
    named.flatMap(({ id, launched_at, grown_at }) => {
      const at = launched_at ?? grown_at;
      return at === null ? [] : [[id, at] as const];
    }),
  );
}

// Measured configurations that no document publishes a result of; those that are asked for, where
// a workload or a GPU type is.
export function unpublished(
  scaling: Scaling,
  { workload, gpuType }: { workload: string; gpuType: string },
): string[] {
  const isAsked = (series: Scaling["series"][number]) =>
    (!workload || formatWorkload(series.workload) === formatWorkload(workload)) &&
    (!gpuType || series.gpu_type === gpuType);
  return scaling.series.filter(isAsked).flatMap((series) =>
    series.points
      .filter((point) => !point.published_standing)
      .map(
        ({ gpu_count }) =>
          `${formatWorkload(series.workload)} ${series.model_size} ${series.dtype}, ` +
          `${formatCount(gpu_count)} × ${series.gpu_type}`,
      ),
  );
}

export function submitCommand({ reference, repeats }: BoardCell): string {
  return submitCommandOf(reference, repeats);
}

export const kBoardHeads = [
  "workload",
  "GPU type",
  "GPUs",
  "document",
  "state",
  "speed against published",
  "its lower 95 % bound",
  "published speed",
  "published step time, s",
  "runs",
];

export function boardTable(rows: readonly BoardRow[], isStale: (cell: BoardCell) => boolean) {
  return {
    heads: kBoardHeads,
    rows: rows.flatMap((row) =>
      row.cells.map((cell) => [
        row.name,
        row.gpuType,
        String(cell.reference.gpu_count),
        documentOf(cell.reference),
        kStateWords[cell.state] + (isStale(cell) ? ", stale" : ""),
        cell.standing?.speed?.toFixed(4) ?? "",
        cell.standing?.speed_low?.toFixed(4) ?? "",
        publishedWord(cell.standing),
        String(cell.reference.step_time_s ?? ""),
        formatCount(cell.runCount),
      ]),
    ),
  };
}
