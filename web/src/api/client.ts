// Asks the server. Every failure becomes a Problem, whose detail is fit to be shown.
import type { Agreement, Comparison, Scaling } from "./result_types";
import type { RootList, RunDetail, RunList, RunStatistics, ServiceStatus, Steps } from "./types";

export class Problem extends Error {
  constructor(
    readonly status: number, // 0: no answer at all
    readonly title: string,
    readonly detail: string,
  ) {
    super(`${title}: ${detail}`);
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, "The page failed", error instanceof Error ? error.message : String(error));
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback = `${response.status} ${response.statusText}`.trim();
  try {
    const body = (await response.json()) as { title?: unknown; detail?: unknown };
    const title = typeof body.title === "string" ? body.title : fallback;
    const detail = typeof body.detail === "string" ? body.detail : "The server gave no reason.";
    return new Problem(response.status, title, detail);
  } catch {
    return new Problem(response.status, fallback, "The server gave no reason.");
  }
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, {
      headers: { accept: "application/json" },
      signal: signal ?? null,
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(
      0,
      "No answer from llmb-report",
      "The server cannot be reached. Check that it is running, and the way to it.",
    );
  }
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}

export const fetchRuns = (query: URLSearchParams, signal?: AbortSignal) =>
  get<RunList>(`/runs?${query}`, signal);
export const fetchRun = (id: number, signal?: AbortSignal) => get<RunDetail>(`/runs/${id}`, signal);
export const fetchSteps = (id: number, signal?: AbortSignal) =>
  get<Steps>(`/runs/${id}/steps`, signal);
export const fetchStatistics = (id: number, window: string, signal?: AbortSignal) =>
  get<RunStatistics>(
    `/runs/${id}/statistics${window ? `?window=${encodeURIComponent(window)}` : ""}`,
    signal,
  );
export const fetchRoots = () => get<RootList>("/roots");
export const fetchStatus = () => get<ServiceStatus>("/status");
export const fetchAgreement = (id: number, window: string, signal?: AbortSignal) =>
  get<Agreement>(
    `/runs/${id}/agreement${window ? `?window=${encodeURIComponent(window)}` : ""}`,
    signal,
  );
export const fetchComparison = (query: URLSearchParams, signal?: AbortSignal) =>
  get<Comparison>(`/compare?${query}`, signal);
export const fetchScaling = (query: URLSearchParams, signal?: AbortSignal) =>
  get<Scaling>(`/scaling?${query}`, signal);
