// The fields of the form that submits jobs, and the request that they make. Knows no page.
import type { DryRun, SubmissionRequest } from "../api/types";

export interface SubmissionFields {
  workload: string;
  model_size: string;
  dtype: string;
  gpu_type: string;
  scale: string; // "128, 256"
  repeats: string;
  backend: string; // empty: as the cluster's configuration says
  proxy: boolean;
}

export const kBackends = ["cuda", "cpu"] as const;

export const kEmptySubmission: SubmissionFields = {
  workload: "",
  model_size: "",
  dtype: "",
  gpu_type: "",
  scale: "",
  repeats: "",
  backend: "",
  proxy: false,
};

// That an address may fill in.
export const kSubmissionKeys = [
  "workload",
  "model_size",
  "dtype",
  "gpu_type",
  "scale",
  "repeats",
] as const;

const wordsOf = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== "");
const isWholeNumber = (word: string) => /^\d{1,9}$/.test(word);

export type SubmissionProblems = Partial<Record<"scale" | "repeats", string>>;

// Of the fields that hold numbers, by field; the server says what is wrong with the rest.
export function submissionProblems(fields: SubmissionFields): SubmissionProblems {
  const problems: SubmissionProblems = {};
  const strange = wordsOf(fields.scale).filter((word) => !isWholeNumber(word));
  if (strange.length > 0) {
    const words = strange.map((word) => `"${word}"`).join(", ");
    problems.scale = `Not understood: ${words}. Write whole numbers, such as 128, 256.`;
  }
  const repeats = fields.repeats.trim();
  if (repeats !== "" && !isWholeNumber(repeats)) {
    problems.repeats = `Not understood: "${repeats}". Write one whole number, such as 3.`;
  }
  return problems;
}

// Of fields without problems.
export function submissionOf(fields: SubmissionFields): SubmissionRequest {
  const request: SubmissionRequest = { workload: fields.workload.trim() };
  for (const key of ["model_size", "dtype", "gpu_type"] as const) {
    const value = fields[key].trim();
    if (value) request[key] = value;
  }
  const scales = wordsOf(fields.scale).map(Number);
  if (scales.length > 0) request.scale = scales;
  const repeats = fields.repeats.trim();
  if (repeats) request.repeats = Number(repeats);
  const backend = kBackends.find((one) => one === fields.backend);
  if (backend) request.backend = backend;
  if (fields.proxy) request.proxy = true;
  return request;
}

export interface AlikeRuns {
  run: DryRun;
  count: number;
}

// Repeats are alike in a dry run, but for the submission's id and time in what Slurm is told: each
// once, with how many there are of it.
export function alikeRuns(runs: readonly DryRun[]): AlikeRuns[] {
  const found = new Map<string, AlikeRuns>();
  for (const run of runs) {
    const { experiment, values, notes, nodes, ranks_per_node } = run;
    const key = JSON.stringify([experiment, values, notes, nodes, ranks_per_node]);
    const known = found.get(key);
    found.set(key, { run, count: (known?.count ?? 0) + 1 });
  }
  return [...found.values()];
}

// A body's idempotency key: the same one until its submission succeeded, so that what is sent again
// because the answer was lost submits once.
export class SubmissionKeys {
  private readonly keys = new Map<string, string>();

  constructor(private readonly makeKey: () => string) {}

  keyOf(body: string): string {
    const key = this.keys.get(body) ?? this.makeKey();
    this.keys.set(body, key);
    return key;
  }
  succeeded(body: string): void {
    this.keys.delete(body);
  }
}
