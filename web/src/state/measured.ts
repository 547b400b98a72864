// What the runs of each configuration amount to, as the board holds it against a published result:
// those that count by their environment (release, framework, layout …), the newest first, and those
// that do not. Pure.
import type { PublishedStanding, Reference, Scaling } from "../api/types";
import { kOverAndNotComplete } from "../ended_badly";
import { formatCount, formatDay, formatPlural, formatWorkload, type Zone } from "../format";
import { markWord, marksWords } from "../mark_words";
import { differenceBetween, type DifferingValue } from "../series_words";
import { judge, kStateWords, type CellState } from "./standing";

// Runs of one scale that a comparison would call alike. Named are those that were launched last.
export interface Environment {
  differences: DifferingValue[]; // to the others of the configuration
  reference: Reference | null; // the one that the runs' own document has
  standing: PublishedStanding;
  runs: number[];
  runCount: number;
  newestAt: string | null; // of the run that was launched last
}

// A run that is not complete, and will not be.
export interface FailedRun {
  id: number;
  mark: string;
  reason: string; // of a status it begins with the mark: "invalid: …"
  at: string | null;
}

export interface Measured {
  environments: Environment[]; // of the runs that count, the newest first
  others: number[]; // that do not count: failed, profiled, held against no published result …
  otherCount: number;
  otherKinds: Map<string, number>; // how many of the others there are, by why they do not count
  otherReasons: Map<number, string>; // why each of `others` does not
  marks: Set<string>; // of the runs that do not count
  newestFailed: FailedRun | null; // of these, by when it was launched
  profiled: number[]; // of these: complete, slowed by nothing but a profiler, and no copies
  profiledCount: number;
  reference: Reference | null; // of the runs that count, or else of their series
}

export const nothingMeasured = (): Measured => ({
  environments: [],
  others: [],
  otherCount: 0,
  otherKinds: new Map(),
  otherReasons: new Map(),
  marks: new Set(),
  newestFailed: null,
  profiled: [],
  profiledCount: 0,
  reference: null,
});

type Configuration = Pick<Reference, "workload" | "model_size" | "dtype" | "gpu_type">;

// Proxies and whole models are never held against each other.
function keyOf(part: Configuration, gpus: number, isProxy: boolean) {
  const { workload, model_size, dtype, gpu_type } = part;
  const kind = isProxy ? "proxy" : "model";
  return [formatWorkload(workload), model_size, dtype, gpu_type, gpus, kind].join(" ");
}

export const hasProxy = (marks: readonly string[]) => marks.includes("proxy");
export const cellKey = (of: Reference) => keyOf(of, of.gpu_count, of.is_proxy);

// What is left of the marks where the published result is a proxy's, too.
const otherMarks = (marks: readonly string[]) => marks.filter((mark) => mark !== "proxy");
const isProfiledOnly = (marks: readonly string[]) => otherMarks(marks).join() === "profiled";

function addOther(cell: Measured, id: number, reason: string): void {
  cell.others.push(id);
  cell.otherReasons.set(id, reason);
}

function addOthers(cell: Measured, kind: string, count: number): void {
  cell.otherCount += count;
  cell.otherKinds.set(kind, (cell.otherKinds.get(kind) ?? 0) + count);
}

export type Series = Scaling["series"][number];
type Run = Series["points"][number]["runs"][number];
type CellAt = (key: string) => Measured;

// When it was launched, or else when its log last grew.
export const timeOf = (run: Pick<Run, "launched_at" | "grown_at">) =>
  run.launched_at ?? run.grown_at;

export const msOf = (at: string | null) => (at === null ? -Infinity : Date.parse(at));

export function newestOf(times: readonly (string | null)[]): string | null {
  return times.reduce((a, b) => (msOf(b) > msOf(a) ? b : a), null);
}

// A published result of fp8, as runs of one kind of it (fp8_cs) are held against it: each kind has
// cells of its own.
const asOf = (reference: Reference, { dtype }: Series): Reference =>
  dtype === reference.dtype ? reference : { ...reference, dtype };

const kNoRecipe = "of no recipe that has a published result";

function addPoints(at: CellAt, series: Series): void {
  const isProxy = hasProxy(series.marks);
  for (const { gpu_count, reference } of series.published) {
    at(keyOf(series, gpu_count, reference.is_proxy)).reference ??= asOf(reference, series);
  }
  for (const point of series.points) {
    const cell = at(keyOf(series, point.gpu_count, isProxy));
    const runs = point.runs.map(({ id }) => id);
    const { run_count: runCount } = point.tokens_per_s_per_gpu;
    const standing = point.published_standing;
    if (!standing) {
      addOthers(cell, kNoRecipe, runCount);
      for (const id of runs) addOther(cell, id, kNoRecipe);
      continue;
    }
    const published = series.published.find(({ gpu_count }) => gpu_count === point.gpu_count);
    const { global_batch_size: size } = point;
    const batch = { key: "global_batch_size", value: size === null ? null : String(size) };
    const layout = point.differences.filter(({ key }) => key !== batch.key);
    cell.environments.push({
      differences: [...series.differences, ...layout, batch],
      reference: isProxy || !published ? null : asOf(published.reference, series),
      standing,
      runs,
      runCount,
      newestAt: newestOf(point.runs.map(timeOf)),
    });
  }
}

// A log that was rewritten has the launch of the one that stands in its place, which is the newer.
function addFailed(cell: Measured, run: Series["left_out"][number]): void {
  const mark = run.marks.find((one) => kOverAndNotComplete.includes(one.mark));
  if (!mark) return;
  const known = cell.newestFailed;
  const at = timeOf(run);
  const later = known ? msOf(at) - msOf(known.at) || run.id - known.id : 1;
  if (later > 0) cell.newestFailed = { id: run.id, ...mark, at };
}

// A run without a mark lacks what its rate takes, and its reason says what.
function whyLeftOut(
  { copy_of: original, reason }: Series["left_out"][number],
  marks: readonly string[],
): string {
  if (original !== null) return `a copy of run ${original}`;
  return marks.length > 0 ? marksWords(marks) : reason.replace(/\.$/, "");
}

function addLeftOut(at: CellAt, series: Series): void {
  for (const run of series.left_out) {
    if (run.gpu_count === null) continue;
    const marks = run.marks.map(({ mark }) => mark);
    const cell = at(keyOf(series, run.gpu_count, hasProxy(marks)));
    const { copy_of: original } = run;
    addOther(cell, run.id, whyLeftOut(run, otherMarks(marks)));
    addFailed(cell, run);
    if (isProfiledOnly(marks) && original === null) cell.profiled.push(run.id);
  }
  for (const { gpu_count, marks, are_copies, run_count } of series.left_out_groups) {
    if (gpu_count === null) continue;
    const cell = at(keyOf(series, gpu_count, hasProxy(marks)));
    const words = marksWords(otherMarks(marks));
    addOthers(cell, are_copies ? "with the bytes of a run that counts" : words, run_count);
    if (isProfiledOnly(marks) && !are_copies) cell.profiledCount += run_count;
    for (const mark of marks) cell.marks.add(mark);
  }
}

export function measuredByKey(scaling: Scaling): Map<string, Measured> {
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
  for (const cell of found.values()) {
    cell.environments.sort(
      (a, b) => msOf(b.newestAt) - msOf(a.newestAt) || b.runCount - a.runCount,
    );
    cell.reference = cell.environments[0]?.reference ?? cell.reference;
  }
  return found;
}

// Runs of another environment than the newest, which alone decides a cell.
export interface Variant {
  name: string; // in what they differ: "release 25.07, window 11-44"
  state: CellState; // that they would give the cell
  runs: number[];
  runCount: number;
  newestAt: string | null;
}

export function variantsOf([newest, ...earlier]: readonly Environment[]): Variant[] {
  if (!newest) return [];
  return earlier.map(({ differences, standing, runs, runCount, newestAt }) => ({
    name: differenceBetween(differences, newest.differences) || "another environment",
    state: judge(standing, runCount).state,
    runs,
    runCount,
    newestAt,
  }));
}

// "Of an earlier environment: 4 runs with release 25.07, the newest of 2026-04-02, aim met."
export function variantWords(variants: readonly Variant[], zone: Zone): string {
  if (variants.length === 0) return "";
  const each = variants.map(({ name, state, runCount, newestAt }) => {
    const date = newestAt === null ? "" : `, the newest of ${formatDay(newestAt, zone)}`;
    return `${formatPlural(runCount, "run")} with ${name}${date}: ${kStateWords[state]}`;
  });
  return `Of an earlier environment, and not counted: ${each.join("; ")}.`;
}

// "30 runs that do not count: 29 failed, 1 profiled."
export function othersWords({ otherCount: count, otherKinds: kinds }: Measured): string {
  if (count === 0) return "";
  const named = [...kinds].map(([kind, of]) =>
    kinds.size === 1 ? kind : `${formatCount(of)} ${kind}`,
  );
  const verb = count === 1 ? "does" : "do";
  return `${formatPlural(count, "run")} that ${verb} not count: ${named.join(", ")}.`;
}

// "The newest of those that ended badly is run 9, invalid: …"
export function failedWords({ newestFailed: run }: Measured): string {
  if (!run) return "";
  const reason = run.reason.replace(`${run.mark}: `, "").replace(/\.$/, "");
  const why = `${markWord(run.mark)}: ${reason}`;
  return `The newest of those that ended badly is run ${run.id}, ${why}.`;
}
