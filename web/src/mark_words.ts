// Why a run is no performance result like others, in words. Pure.
import type { Run, RunMark } from "./api/types";

const kWords: Record<string, string> = {
  none: "without a mark",
  profiled: "profiled",
  traced: "traced",
  function_check: "checkpoint load",
  proxy: "proxy",
  on_cpu: "on CPU",
  implausible: "implausible",
};

export function markWord(mark: string): string {
  return kWords[mark] ?? mark.replaceAll("_", " ");
}

// Of one run, or of several alike. A run without a mark that is left out lacks what its rate takes.
export function marksWords(marks: readonly string[]): string {
  return marks.map(markWord).join(" and ") || "without what their speed takes";
}

// Why a history or a comparison leaves a run out, a sentence for each mark.
const kReasons: Record<string, string> = {
  profiled: "A profiler slowed it.",
  traced: "Its log holds an NCCL trace, which slows every collective.",
  function_check: "It loaded a checkpoint and did one step, which says nothing of speed.",
  proxy: "It is a proxy: it has fewer layers than its model, and its speed is not the model's.",
  on_cpu: "It computed on CPUs: its speed is no GPU's.",
  implausible:
    "It is more than the GPU can do: its MFU is above 100 % by the logged TFLOPS, or with " +
    "attention counted half.",
  superseded: "Its log was rewritten since.",
};

export function markReasons(marks: readonly string[]): string[] {
  return marks.flatMap((mark) => kReasons[mark] ?? []);
}

// Of runs that may be complete; the others say how a run ended, or that it goes on.
export const kOfCompleteRuns: readonly string[] = [
  "profiled",
  "traced",
  "function_check",
  "proxy",
  "on_cpu",
  "implausible",
];

interface Marked {
  marks: readonly Pick<RunMark, "mark">[];
}

// The marks by which runs can count that are complete. Of a run that also failed, or still runs, none
// would bring it in.
export function countableMarks(runs: readonly Marked[]): string[] {
  const complete = runs.filter(({ marks }) =>
    marks.every(({ mark }) => kOfCompleteRuns.includes(mark)),
  );
  return [...new Set(complete.flatMap(({ marks }) => marks.map(({ mark }) => mark)))];
}

// The marks by which runs would count that have what is counted. Of one that failed before its
// window, or whose log counts as another run's, none would change the answer.
export function includableMarks<T extends Marked>(
  runs: readonly T[],
  hasResult: (run: T) => boolean,
): string[] {
  return [...new Set(runs.filter(hasResult).flatMap(({ marks }) => marks.map(({ mark }) => mark)))];
}

export function leftOutReasons({
  marks,
  status,
  status_reason,
}: Pick<Run, "marks" | "status" | "status_reason">): string[] {
  const own = markReasons(marks);
  return status === "complete" ? own : [...own, `It is no complete run: ${status_reason}.`];
}
