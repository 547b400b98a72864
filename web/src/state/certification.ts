// What a certification asks of a cluster, and until when it is met: each workload at its scale, in
// three complete runs of which one may be profiled, which meet the aim, and none of them older than
// a year. So NVIDIA's "Exemplar Cloud: Path & Requirements" has it. The runs are those of the
// environment that was measured last. Pure.
import { formatCount, formatDay, formatPlural, type Zone } from "../format";
import { documentOf, hasRuns, submitCommand, type BoardCell, type BoardRow } from "./board";
import { msOf, newestOf, variantWords } from "./measured";
import { kAim } from "./standing";

export const kCertifiedScale = 512; // GPUs; where less is published, the most of it
export const kCertifiedRuns = 3;
const kProfiledMax = 1; // of these
export const kCertifiedMonths = 12;

export type CertificationState = "certified" | "expired" | "open" | "unjudged";

export interface Certification {
  name: string;
  cluster: string | null;
  gpuType: string;
  cell: BoardCell; // at the workload's scale
  isMeasured: boolean; // at any scale
  state: CertificationState;
  validUntil: string | null; // null where it is open
  words: string;
  runsMade: number; // in the environment that was measured last, profiled ones too
  repeats: number; // that it takes; 0 where it is certified
}

// One for each row of the board that is of a whole model.
export function certifications(
  rows: readonly BoardRow[],
  launchedAt: ReadonlyMap<number, string>,
  nowMs: number,
  zone: Zone, // of the days in its words
): Certification[] {
  return rows.flatMap((row) => {
    const { name, cluster, gpuType, cells } = row;
    const whole = cells.filter(({ reference }) => !reference.is_proxy);
    const within = whole.filter(({ reference }) => reference.gpu_count <= kCertifiedScale);
    const cell = within.at(-1) ?? whole[0]; // by number of GPUs
    const one = cell && certify(cell, launchedAt, nowMs, zone);
    return cell && one ? [{ name, cluster, gpuType, cell, isMeasured: hasRuns(row), ...one }] : [];
  });
}

function aYearAfter(at: string): string {
  const then = new Date(at);
  then.setUTCMonth(then.getUTCMonth() + kCertifiedMonths);
  return then.toISOString();
}

function certify(
  cell: BoardCell,
  launchedAt: ReadonlyMap<number, string>,
  nowMs: number,
  zone: Zone,
) {
  if (cell.state === "unjudged") {
    const { words, runCount: runsMade } = cell;
    return { state: "unjudged" as const, validUntil: null, words, runsMade, repeats: 0 };
  }
  const dated = (ids: readonly number[]) =>
    ids
      .map((id) => launchedAt.get(id))
      .filter((at) => at !== undefined)
      .sort()
      .reverse(); // the newest first
  // Of a profiled run no environment is told: it is of this one where it came after all others.
  const changedMs = msOf(newestOf(cell.variants.map(({ newestAt }) => newestAt)));
  const profiled = dated(cell.profiled).filter((at) => msOf(at) > changedMs);
  const runsMade = cell.runCount + profiled.length;
  const ends = [...dated(cell.runs), ...profiled.slice(0, kProfiledMax)]
    .sort()
    .reverse()
    .slice(0, kCertifiedRuns)
    .map(aYearAfter);
  const expired = ends.filter((end) => Date.parse(end) <= nowMs);
  const missing = kCertifiedRuns - (ends.length - expired.length);
  if (cell.state !== "met") {
    const words = `${cell.words} ${expiredWords(expired, ends.length, zone)}`.trim();
    const repeats = Math.max(cell.repeats, missing);
    return { state: "open" as const, validUntil: null, words, runsMade, repeats };
  }
  const validUntil = ends[kCertifiedRuns - 1] ?? null;
  if (missing === 0) {
    const words = `${profiledWords(cell.runCount, profiled.length)} ${cell.words}`.trim();
    return { state: "certified" as const, validUntil, words, runsMade, repeats: 0 };
  }
  const words = [
    "The aim is met.",
    cell.since?.words ?? "",
    expiredWords(expired, ends.length, zone),
    `${formatPlural(missing, "more run")} for the ${kCertifiedRuns} that it takes.`,
    variantWords(cell.variants, zone),
  ];
  const state = validUntil === null ? ("open" as const) : ("expired" as const);
  const said = words.filter(Boolean).join(" ");
  return { state, validUntil, words: said, runsMade, repeats: missing };
}

// A profiled run counts as one that was made, and its speed as none; empty where there is none.
function profiledWords(runCount: number, profiledCount: number): string {
  if (profiledCount === 0) return "";
  return (
    `${formatCount(runCount + profiledCount)} runs, ${formatCount(profiledCount)} of them ` +
    `profiled; the speed is that of the other ${formatCount(runCount)}.`
  );
}

// Of `count` runs those whose year is over; empty where there are none.
function expiredWords(expired: readonly string[], count: number, zone: Zone): string {
  if (expired.length === 0) return "";
  const last = formatDay([...expired].sort().at(-1) ?? null, zone);
  const age = `older than ${kCertifiedMonths} months`;
  if (count === 1) return `Its only run is ${age}: it expired on ${last}.`;
  const which =
    expired.length === count
      ? `Its newest ${count} runs are all`
      : `${expired.length} of its newest ${count} runs ${expired.length === 1 ? "is" : "are"}`;
  return `${which} ${age}: the last of them expired on ${last}.`;
}

export interface SuiteStanding {
  gpuType: string;
  cluster: string | null;
  of: Certification[];
  certifiedCount: number;
  unjudgedCount: number;
  validUntil: string | null; // of the whole: null until all of it is certified
}

// "gb200", or "gb200 of alpha" where clusters are named.
export function suiteName({ gpuType, cluster }: SuiteStanding): string {
  return cluster === null ? gpuType : `${gpuType} of ${cluster}`;
}

const isUnjudged = ({ state }: Certification) => state === "unjudged";

// A cluster is certified for a GPU type by all of its workloads. Types with runs come first, and
// workloads that cannot be judged last. Of several clusters each has those that it ran.
export function suites(all: readonly Certification[]): SuiteStanding[] {
  const bySuite = new Map<string, Certification[]>();
  for (const one of all) {
    const key = JSON.stringify([one.gpuType, one.cluster]);
    bySuite.set(key, [...(bySuite.get(key) ?? []), one]);
  }
  const isOne = new Set(all.map(({ cluster }) => cluster)).size < 2;
  const asked = [...bySuite.values()].filter((of) => isOne || of.some((one) => one.isMeasured));
  const standing = asked.map((of) => {
    const { gpuType = "", cluster = null } = of[0] ?? {};
    const certified = of.filter(({ state }) => state === "certified");
    const ends = certified.flatMap(({ validUntil }) => validUntil ?? []).sort();
    const isWhole = certified.length === of.length;
    const validUntil = isWhole ? (ends[0] ?? null) : null;
    const unjudgedCount = of.filter(isUnjudged).length;
    return { gpuType, cluster, of, certifiedCount: certified.length, unjudgedCount, validUntil };
  });
  const runCount = ({ of }: SuiteStanding) =>
    of.filter(({ cell }) => cell.runCount + cell.otherCount > 0).length;
  for (const { of } of standing) of.sort((a, b) => Number(isUnjudged(a)) - Number(isUnjudged(b)));
  return standing.sort(
    (a, b) =>
      b.certifiedCount - a.certifiedCount ||
      runCount(b) - runCount(a) ||
      a.gpuType.localeCompare(b.gpuType, "en", { numeric: true }) ||
      (a.cluster ?? "").localeCompare(b.cluster ?? "", "en", { numeric: true }),
  );
}

export const kCertificationWords: Record<CertificationState, string> = {
  certified: "certified",
  expired: "expired",
  open: "not certified",
  unjudged: "cannot be judged here",
};

// What of the suite is to be submitted, a command a workload.
export function suiteCommands({ of }: SuiteStanding): string {
  return of
    .filter(({ repeats }) => repeats > 0)
    .map(({ cell, repeats }) => submitCommand({ ...cell, repeats }))
    .join("\n");
}

// With the cluster of each where one is named.
export function certificationTable(all: readonly SuiteStanding[], zone: Zone) {
  const isNamed = all.some(({ cluster }) => cluster !== null);
  return {
    heads: [
      "GPU type",
      "workload",
      "GPUs",
      "document",
      "state",
      `lower 95 % bound of the speed (aim ${kAim})`,
      "runs",
      "since then",
      "valid until",
      ...(isNamed ? ["cluster"] : []),
    ],
    rows: all.flatMap(({ gpuType, cluster, of }) =>
      of.map(({ name, cell, state, validUntil, runsMade }) => [
        gpuType,
        name,
        String(cell.reference.gpu_count),
        documentOf(cell.reference),
        kCertificationWords[state],
        cell.standing?.speed_low?.toFixed(4) ?? "",
        String(runsMade),
        cell.since?.verdict ?? "",
        validUntil === null ? "" : formatDay(validUntil, zone),
        ...(isNamed ? [cluster ?? ""] : []),
      ]),
    ),
  };
}
