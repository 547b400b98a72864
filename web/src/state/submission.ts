// The fields of the form that submits jobs, and the request that they make. Knows no page.
import type { SubmissionRequest } from "../api/types";

export interface SubmissionFields {
  workload: string;
  model_size: string;
  dtype: string;
  gpu_type: string;
  scale: string; // "128, 256"
  repeats: string;
  proxy: boolean;
}

export const kEmptySubmission: SubmissionFields = {
  workload: "",
  model_size: "",
  dtype: "",
  gpu_type: "",
  scale: "",
  repeats: "",
  proxy: false,
};

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
  if (fields.proxy) request.proxy = true;
  return request;
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
