// Asks the server. Every failure becomes a Problem, whose detail is fit to be shown.
import type {
  Audit,
  Comparison,
  DryRunList,
  History,
  Job,
  JobDetails,
  JobList,
  JobLog,
  Readiness,
  Recipe,
  Reference,
  RootList,
  RunAgreement,
  RunCheckpoints,
  RunChoices,
  RunDetails,
  RunInsight,
  RunList,
  RunLog,
  RunMetrics,
  RunNccl,
  RunRanks,
  RunStatistics,
  Scaling,
  Status,
  Steps,
  Submitted,
} from "./types";

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

async function ask<T>(path: string, options: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, options);
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

function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(`/api/v1${path}`, {
    headers: { accept: "application/json" },
    signal: signal ?? null,
  });
}

const windowQuery = (window: string) => (window ? `?window=${encodeURIComponent(window)}` : "");

export const fetchRuns = (query: URLSearchParams, signal?: AbortSignal) =>
  get<RunList>(`/runs?${query}`, signal);
export const fetchChoices = () => get<RunChoices>("/choices");
export const fetchRun = (id: number, signal?: AbortSignal) =>
  get<RunDetails>(`/runs/${id}`, signal);
export const fetchRunLog = (id: number, query: URLSearchParams, signal?: AbortSignal) =>
  get<RunLog>(`/runs/${id}/log?${query}`, signal);
export const fetchSteps = (id: number, signal?: AbortSignal) =>
  get<Steps>(`/runs/${id}/steps`, signal);
export const fetchStatistics = (id: number, window: string, signal?: AbortSignal) =>
  get<RunStatistics>(`/runs/${id}/statistics${windowQuery(window)}`, signal);
export const fetchMetrics = (id: number, window: string, signal?: AbortSignal) =>
  get<RunMetrics>(`/runs/${id}/metrics${windowQuery(window)}`, signal);
export const fetchAgreement = (id: number, window: string, signal?: AbortSignal) =>
  get<RunAgreement>(`/runs/${id}/agreement${windowQuery(window)}`, signal);
export const fetchInsight = (id: number, signal?: AbortSignal) =>
  get<RunInsight>(`/runs/${id}/insight`, signal);
export const fetchNccl = (id: number, signal?: AbortSignal) =>
  get<RunNccl>(`/runs/${id}/nccl`, signal);
export const fetchRanks = (id: number, signal?: AbortSignal) =>
  get<RunRanks>(`/runs/${id}/ranks`, signal);
export const fetchCheckpoints = (id: number, signal?: AbortSignal) =>
  get<RunCheckpoints>(`/runs/${id}/checkpoints`, signal);
export const fetchComparison = (query: URLSearchParams, signal?: AbortSignal) =>
  get<Comparison>(`/compare?${query}`, signal);
export const fetchScaling = (query: URLSearchParams, signal?: AbortSignal) =>
  get<Scaling>(`/scaling?${query}`, signal);
export const fetchHistory = (query: URLSearchParams, signal?: AbortSignal) =>
  get<History>(`/history?${query}`, signal);
export const fetchRecipes = (signal?: AbortSignal) =>
  get<{ recipes: Recipe[] }>("/recipes", signal);
export const fetchReferences = (signal?: AbortSignal) =>
  get<{ references: Reference[] }>("/references", signal);
export const fetchAudit = (signal?: AbortSignal) => get<Audit>("/references/audit", signal);
export const fetchJobs = (query: URLSearchParams, signal?: AbortSignal) =>
  get<JobList>(`/jobs?${query}`, signal);
export const fetchJob = (id: number, signal?: AbortSignal) =>
  get<JobDetails>(`/jobs/${id}`, signal);
export const fetchJobLog = (id: number, query: URLSearchParams, signal?: AbortSignal) =>
  get<JobLog>(`/jobs/${id}/log?${query}`, signal);
export const fetchRoots = () => get<RootList>("/roots");
export const fetchStatus = () => get<Status>("/status");

const submission = (body: string, token: string, further: Record<string, string>): RequestInit => ({
  method: "POST",
  headers: {
    accept: "application/json",
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
    ...further,
  },
  body,
});

export const dryRunJobs = (body: string, token: string) =>
  ask<DryRunList>("/api/v1/jobs?dry_run=true", submission(body, token, {}));
export const submitJobs = (body: string, token: string, key: string) =>
  ask<Submitted>("/api/v1/jobs", submission(body, token, { "idempotency-key": key }));

export const cancelJob = (id: number, token: string) =>
  ask<Job>(`/api/v1/jobs/${id}`, {
    method: "DELETE",
    headers: { accept: "application/json", authorization: `Bearer ${token}` },
  });

// Not ready is an answer, too: its causes are what the health page shows.
export async function fetchReadiness(): Promise<Readiness["causes"]> {
  const response = await fetch("/readyz", { headers: { accept: "application/json" } });
  const body = (await response.json()) as { causes?: Readiness["causes"] };
  return body.causes ?? [];
}
