// The fields of the form that submits jobs, and the request that they make. Pure.
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

// Numbers as far as they are some; the server says what is wrong with the rest.
function wholeNumbers(text: string): number[] {
  return text
    .split(/[\s,;]+/)
    .filter((word) => /^\d{1,9}$/.test(word))
    .map(Number);
}

export function submissionOf(fields: SubmissionFields): SubmissionRequest {
  const request: SubmissionRequest = { workload: fields.workload.trim() };
  for (const key of ["model_size", "dtype", "gpu_type"] as const) {
    const value = fields[key].trim();
    if (value) request[key] = value;
  }
  const scales = wholeNumbers(fields.scale);
  if (scales.length > 0) request.scale = scales;
  const [repeats] = wholeNumbers(fields.repeats);
  if (repeats !== undefined) request.repeats = repeats;
  if (fields.proxy) request.proxy = true;
  return request;
}
