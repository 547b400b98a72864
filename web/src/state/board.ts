// The board: every published result, and how the runs of its configuration stand against it. A cell
// is judged by the speed of its runs, where it has any that count: proxies where the published result
// is a proxy's, whole models where it is a model's. Pure.
import type { PublishedStanding, Reference, Scaling } from "../api/types";
import { formatCount, formatPlural, formatWorkload } from "../format";
import { marksWords } from "../mark_words";
import { judge, kStateWords, publishedWord, type CellState } from "./standing";
import { submitCommandOf } from "./submit_command";

// Of the API: what the board counts beside runs without a mark.
export const kBoardInclude = "proxy";

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
  others: number[]; // that do not count: failed, profiled, held against no published result …
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

type Configuration = Pick<Reference, "workload" | "model_size" | "dtype" | "gpu_type">;

// Proxies and whole models are never held against each other.
function keyOf(part: Configuration, gpus: number, isProxy: boolean) {
  const { workload, model_size, dtype, gpu_type } = part;
  const kind = isProxy ? "proxy" : "model";
  return [formatWorkload(workload), model_size, dtype, gpu_type, gpus, kind].join(" ");
}

const hasProxy = (marks: readonly string[]) => marks.includes("proxy");
const cellKey = (of: Reference) => keyOf(of, of.gpu_count, of.is_proxy);

interface Measured extends Omit<BoardCell, "reference" | "state" | "words" | "repeats"> {
  otherKinds: Map<string, number>; // how many of the others there are, by why they do not count
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
  otherKinds: new Map(),
  marks: new Set(),
  reference: null,
});

// What is left of the marks where the published result is a proxy's, too.
const otherMarks = (marks: readonly string[]) => marks.filter((mark) => mark !== "proxy");
const isProfiledOnly = (marks: readonly string[]) => otherMarks(marks).join() === "profiled";

function addOthers(cell: Measured, kind: string, ids: readonly number[], count: number): void {
  cell.others.push(...ids);
  cell.otherCount += count;
  cell.otherKinds.set(kind, (cell.otherKinds.get(kind) ?? 0) + count);
}

type Series = Scaling["series"][number];
type CellAt = (key: string) => Measured;

function addPoints(at: CellAt, series: Series): void {
  const isProxy = hasProxy(series.marks);
  for (const { gpu_count, reference } of series.published) {
    at(keyOf(series, gpu_count, reference.is_proxy)).reference ??= reference;
  }
  for (const point of series.points) {
    const cell = at(keyOf(series, point.gpu_count, isProxy));
    const ids = point.runs.map(({ id }) => id);
    const { run_count } = point.tokens_per_s_per_gpu;
    if (!point.published_standing) {
      addOthers(cell, "of no recipe that has a published result", ids, run_count);
      continue;
    }
    // Runs that differ (in their environment, release …) are series of their own: the one with
    // the most runs fills the cell.
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
    if (!isProxy) cell.reference = published?.reference ?? cell.reference;
  }
}

function addLeftOut(at: CellAt, series: Series): void {
  for (const run of series.left_out) {
    if (run.gpu_count === null) continue;
    const marks = run.marks.map(({ mark }) => mark);
    const cell = at(keyOf(series, run.gpu_count, hasProxy(marks)));
    cell.others.push(run.id);
    if (isProfiledOnly(marks) && run.copy_of === null) cell.profiled.push(run.id);
  }
  for (const { gpu_count, marks, are_copies, run_count } of series.left_out_groups) {
    if (gpu_count === null) continue;
    const cell = at(keyOf(series, gpu_count, hasProxy(marks)));
    const words = marksWords(otherMarks(marks));
    addOthers(cell, are_copies ? "copies of runs that count" : words, [], run_count);
    if (isProfiledOnly(marks) && !are_copies) cell.profiledCount += run_count;
    for (const mark of marks) cell.marks.add(mark);
  }
}

function measuredByKey(scaling: Scaling): Map<string, Measured> {
  const found = new Map<string, Measured>();
  const at: CellAt = (key) => {
    const known = found.get(key) ?? nothingMeasured();
    found.set(key, known);
    return known;
  };
  for (const series of scaling.series) {
    addPoints(at, series);
    addLeftOut(at, series);
  }
  return found;
}

// "30 runs that do not count: 29 failed, 1 profiled."
function othersWords(count: number, kinds: ReadonlyMap<string, number>): string {
  const named = [...kinds].map(([kind, of]) =>
    kinds.size === 1 ? kind : `${formatCount(of)} ${kind}`,
  );
  const verb = count === 1 ? "does" : "do";
  return `${formatPlural(count, "run")} that ${verb} not count: ${named.join(", ")}.`;
}

const kFailed = ["failed", "incomplete", "invalid", "no_data"];

function cellOf(reference: Reference, measured: Measured = nothingMeasured()): BoardCell {
  const { marks, otherKinds, ...base } = { ...measured, reference };
  const others = base.otherCount > 0 ? othersWords(base.otherCount, otherKinds) : "";
  if (base.standing) {
    return { ...base, ...judge(base.standing, base.runCount) };
  }
  if (!reference.has_recipe) {
    const words =
      `No run can be held against it: the catalog lacks the recipe that ${documentOf(reference)} ` +
      `measured it with (--catalog FILE adds recipes). ${others}`;
    return { ...base, state: "unjudged", words: words.trim(), repeats: 0 };
  }
  if (marks.has("running")) {
    return { ...base, state: "running", words: "A run is under way.", repeats: 2 };
  }
  if (kFailed.some((mark) => marks.has(mark))) {
    return { ...base, state: "failed", words: others, repeats: 3 };
  }
  const words = others || "No run of this configuration was found.";
  return { ...base, state: "missing", words, repeats: 3 };
}

export function documentOf(reference: Reference): string {
  return reference.document ?? `release ${reference.release}`;
}

// Several releases publish the same configuration: the one that the runs belong to counts, then one
// that runs can be held against, then the newest.
function isBetter(a: Reference, b: Reference): boolean {
  if (a.has_recipe !== b.has_recipe) return a.has_recipe;
  return a.release.localeCompare(b.release, "en", { numeric: true }) > 0;
}

export function boardRows(references: readonly Reference[], scaling: Scaling): BoardRow[] {
  const measured = measuredByKey(scaling);
  const chosen = new Map<string, Reference>();
  for (const reference of references) {
    if (reference.step_time_s === null) continue;
    const key = cellKey(reference);
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
    cells.sort(
      (a, b) =>
        a.reference.gpu_count - b.reference.gpu_count ||
        Number(b.reference.is_proxy) - Number(a.reference.is_proxy),
    );
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

export function gpusOf({ reference: { gpu_count, is_proxy } }: BoardCell): string {
  return `${formatCount(gpu_count)} GPUs${is_proxy ? ", proxy" : ""}`;
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
  const isAsked = (series: Series) =>
    (!workload || formatWorkload(series.workload) === formatWorkload(workload)) &&
    (!gpuType || series.gpu_type === gpuType);
  return scaling.series.filter(isAsked).flatMap((series) =>
    series.points
      .filter((point) => !point.published_standing)
      .map(
        ({ gpu_count }) =>
          `${formatWorkload(series.workload)} ${series.model_size} ${series.dtype}, ` +
          `${formatCount(gpu_count)} × ${series.gpu_type}${hasProxy(series.marks) ? ", a proxy" : ""}`,
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
        cell.reference.is_proxy ? `${row.name}, proxy` : row.name,
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
