// The board: every published result, and how the runs of its configuration stand against it. A cell
// is judged by the speed of its runs, where it has any that count: those of the environment
// (release, framework …) that was measured last, proxies where the published result is a proxy's,
// whole models where it is a model's. Pure.
import type { PublishedStanding, Reference, Scaling } from "../api/types";
import { isKindOf } from "../dtype";
import { kOverAndNotComplete } from "../ended_badly";
import { formatCount, formatWorkload, type Zone } from "../format";
import { differencesText, type DifferingValue } from "../series_words";
import {
  cellKey,
  failedWords,
  hasProxy,
  measuredByKey,
  msOf,
  nothingMeasured,
  othersWords,
  timeOf,
  variantsOf,
  variantWords,
  type Measured,
  type Series,
  type Variant,
} from "./measured";
import { judge, kStateWords, publishedWord, type CellState } from "./standing";
import { sinceThen, type Places, type SinceThen } from "./since_then";
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
  since: SinceThen | null; // how those that count have moved
  variants: Variant[]; // of earlier environments, releases …
  isRunning: boolean; // a run of it is under way, whatever its state
  endedBadly: boolean; // some run of it did
  others: number[]; // that do not count: failed, profiled, held against no published result …
  otherCount: number;
  otherReasons: Map<number, string>; // why each of `others` does not
  profiled: number[]; // of these: complete, slowed by nothing but a profiler, and no copies
  profiledCount: number;
  repeats: number; // that would fill or decide the cell
}

// As many as a cell shows, and more than a comparison or a certification takes.
export const kRunsNamed = 12;

// What the runs of one cluster amount to; no name where only one is known, or none.
export interface ClusterAnswer {
  cluster: string | null;
  scaling: Scaling;
}

export interface BoardRow {
  name: string;
  cluster: string | null;
  documents: string[]; // of its cells
  gpuType: string;
  workload: string;
  cells: BoardCell[]; // by number of GPUs
}

const sentences = (...all: string[]) => all.filter(Boolean).join(" ");

// A cell without a complete run is called as the newest of its runs is.
const kStatesOfFailed: Record<string, CellState> = {
  invalid: "invalid",
  incomplete: "incomplete",
  no_data: "incomplete",
};

// After all that count.
function failedSince({ newestFailed, environments: [newest] }: Measured): boolean {
  return newestFailed !== null && msOf(newestFailed.at) > msOf(newest?.newestAt ?? null);
}

function cellOf(
  reference: Reference,
  measured: Measured,
  zone: Zone,
  places: Places,
): BoardCell {
  const { environments, marks, others, otherCount, otherReasons } = measured;
  const { profiled, profiledCount } = measured;
  const isRunning = marks.has("running");
  const endedBadly = kOverAndNotComplete.some((mark) => marks.has(mark));
  const [newest] = environments;
  const base = {
    reference,
    standing: newest?.standing ?? null,
    runs: newest?.runs ?? [],
    runCount: newest?.runCount ?? 0,
    since: newest ? sinceThen(newest.runs, newest.runCount, places) : null,
    variants: variantsOf(environments),
    isRunning,
    endedBadly,
    others,
    otherCount,
    otherReasons,
    profiled,
    profiledCount,
  };
  const left = othersWords(measured);
  if (base.standing) {
    const judged = judge(base.standing, base.runCount);
    const differing = base.variants.filter(({ state }) => state !== judged.state);
    const otherwise = variantWords(differing, zone);
    const failed = failedSince(measured) ? failedWords(measured) : "";
    const since = base.since?.words ?? "";
    return { ...base, ...judged, words: sentences(judged.words, since, otherwise, left, failed) };
  }
  if (!reference.has_recipe) {
    const words =
      `No run can be held against it: the catalog lacks the recipe that ${documentOf(reference)} ` +
      `measured it with (--catalog FILE adds recipes). ${left}`;
    return { ...base, state: "unjudged", words: words.trim(), repeats: 0 };
  }
  if (isRunning) {
    const words = sentences("A run is under way.", measured.otherKinds.size > 1 ? left : "");
    return { ...base, state: "running", words, repeats: 2 };
  }
  if (endedBadly) {
    const state = kStatesOfFailed[measured.newestFailed?.mark ?? ""] ?? "failed";
    return { ...base, state, words: sentences(left, failedWords(measured)), repeats: 3 };
  }
  const words = left || "No run of this configuration was found.";
  return { ...base, state: "missing", words, repeats: 3 };
}

// "aim met, running"
export function stateText({ state, isRunning }: BoardCell): string {
  const beside = isRunning && state !== "running" ? `, ${kStateWords.running}` : "";
  return kStateWords[state] + beside;
}

// What earlier environments would make of the cell, where it is something else: "aim met".
export function otherwiseOf({ state, variants }: BoardCell): string {
  const states = variants.map((variant) => variant.state).filter((one) => one !== state);
  return [...new Set(states)].map((one) => kStateWords[one]).join(", ");
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

export function boardRows(
  references: readonly Reference[],
  { cluster, scaling }: ClusterAnswer,
  zone: Zone,
  places: Places = new Map(),
): BoardRow[] {
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
    const name = [formatWorkload(workload), model_size, dtype].join(" ");
    const rowKey = `${name} ${gpu_type}`;
    const row = rows.get(rowKey) ?? {
      name,
      cluster,
      documents: [],
      gpuType: gpu_type,
      workload: formatWorkload(workload),
      cells: [],
    };
    rows.set(rowKey, row);
    row.cells.push(cellOf(reference, measured.get(key) ?? nothingMeasured(), zone, places));
  }
  const all = [...rows.values()];
  const shown = all.map((row) => ({ ...row, cells: cellsOfItsOwn(row, all) }));
  for (const row of shown) {
    row.documents = [...new Set(row.cells.map(({ reference }) => documentOf(reference)))];
    row.cells.sort(
      (a, b) =>
        a.reference.gpu_count - b.reference.gpu_count ||
        Number(b.reference.is_proxy) - Number(a.reference.is_proxy),
    );
  }
  return shown.filter(({ cells }) => cells.length > 0).sort(byName);
}

function isOfKind(a: Reference, b: Reference): boolean {
  const isSame = (["workload", "model_size", "gpu_type", "gpu_count", "is_proxy"] as const).every(
    (key) => a[key] === b[key],
  );
  return isSame && isKindOf(a.dtype, b.dtype);
}

// Of fp8, where nothing but kinds of it was run, those that stand in no row of a kind.
function cellsOfItsOwn(row: BoardRow, all: readonly BoardRow[]): BoardCell[] {
  if (hasRuns(row)) return row.cells;
  const ofOthers = all.filter(hasRuns).flatMap(({ cells }) => cells);
  return row.cells.filter(
    ({ reference }) => !ofOthers.some((other) => isOfKind(other.reference, reference)),
  );
}

function byName(a: BoardRow, b: BoardRow): number {
  return (
    a.name.localeCompare(b.name, "en", { numeric: true }) ||
    a.gpuType.localeCompare(b.gpuType, "en", { numeric: true }) ||
    (a.cluster ?? "").localeCompare(b.cluster ?? "", "en", { numeric: true })
  );
}

// Those that do not count among them.
export const hasRuns = ({ cells }: BoardRow) =>
  cells.some(({ runCount, otherCount }) => runCount + otherCount > 0);

const configurationOf = ({ name, gpuType }: BoardRow) => `${name} ${gpuType}`;

// Of several clusters what each of them has measured, and once, of no cluster, what none has.
export function overview(rows: readonly BoardRow[]): BoardRow[] {
  if (new Set(rows.map(({ cluster }) => cluster)).size < 2) return [...rows];
  const measured = rows.filter(hasRuns);
  const known = new Set(measured.map(configurationOf));
  const open = rows.flatMap((row) => {
    const of = configurationOf(row);
    if (known.has(of)) return [];
    known.add(of);
    return [{ ...row, cluster: null }];
  });
  return [...measured, ...open].sort(byName);
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
    named.flatMap((run) => {
      const at = timeOf(run);
      return at === null ? [] : [[run.id, at] as const];
    }),
  );
}

interface Unpublished {
  name: string;
  differences: DifferingValue[]; // to others of that name
}

function unpublishedOf(cluster: string | null, series: Series): Unpublished[] {
  const what = `${formatWorkload(series.workload)} ${series.model_size} ${series.dtype}`;
  const kind = hasProxy(series.marks) ? ", a proxy" : "";
  return series.points
    .filter((point) => !point.published_standing)
    .map(({ gpu_count, global_batch_size: batch, differences }) => ({
      name: [`${what}, ${formatCount(gpu_count)} × ${series.gpu_type}${kind}`, cluster]
        .filter((part) => part !== null)
        .join(", "),
      differences: [
        ...series.differences,
        ...differences.filter(({ key }) => key !== "global_batch_size"),
        { key: "global_batch_size", value: batch === null ? null : String(batch) },
      ],
    }));
}

// Measured configurations that no document publishes a result of; those that are asked for, where
// a workload or a GPU type is. Those of one name say in what they differ.
export function unpublished(
  answers: readonly ClusterAnswer[],
  { workload, gpuType }: { workload: string; gpuType: string },
): string[] {
  const isAsked = (series: Series) =>
    (!workload || formatWorkload(series.workload) === formatWorkload(workload)) &&
    (!gpuType || series.gpu_type === gpuType);
  const all = answers.flatMap(({ cluster, scaling }) =>
    scaling.series.filter(isAsked).flatMap((series) => unpublishedOf(cluster, series)),
  );
  const words = all.map((one) => {
    const alike = all.filter(({ name }) => name === one.name);
    const keys = one.differences.filter(({ key, value }) =>
      alike.some(({ differences }) => differences.find((of) => of.key === key)?.value !== value),
    );
    return keys.length === 0 ? one.name : `${one.name}: ${differencesText(keys)}`;
  });
  return [...new Set(words)];
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
  "whether the published speed is reached",
  "published step time, s",
  "runs",
  "earlier environments",
  "since then",
];

// With the cluster of each where one is named.
export function boardTable(rows: readonly BoardRow[], isStale: (cell: BoardCell) => boolean) {
  const isNamed = rows.some(({ cluster }) => cluster !== null);
  return {
    heads: [...kBoardHeads, ...(isNamed ? ["cluster"] : [])],
    rows: rows.flatMap((row) =>
      row.cells.map((cell) => [
        cell.reference.is_proxy ? `${row.name}, proxy` : row.name,
        row.gpuType,
        String(cell.reference.gpu_count),
        documentOf(cell.reference),
        [stateText(cell), isStale(cell) && "stale"].filter(Boolean).join(", "),
        cell.standing?.speed?.toFixed(4) ?? "",
        cell.standing?.speed_low?.toFixed(4) ?? "",
        publishedWord(cell.standing),
        String(cell.reference.step_time_s ?? ""),
        String(cell.runCount),
        otherwiseOf(cell),
        cell.since?.verdict ?? "",
        ...(isNamed ? [row.cluster ?? ""] : []),
      ]),
    ),
  };
}
