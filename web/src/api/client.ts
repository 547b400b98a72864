// Asks the server. Every failure becomes a Problem, whose detail is fit to be shown.
import type {
  Audit,
  Comparison,
  DryRunList,
  Failures,
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
  RunLogMatches,
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

const kNoAnswer = "No answer from llmb-report";

async function bodyOf<T>(response: Response): Promise<T> {
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}

async function reach(path: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(
      0,
      kNoAnswer,
      "The server cannot be reached. Check that it is running, and the way to it.",
    );
  }
}

// A server may take the question and never answer, as one that is stopped does.
export const kBeginsWithinMs = 30_000; // its answer does
// All jobs of a submission are checked and recorded before the answer begins, and Slurm is asked to
// cancel one.
const kJobsBeginWithinMs = 300_000;
const kEndsWithinMs = 300_000; // from its beginning on

async function ask<T>(
  path: string,
  options: RequestInit,
  take: (response: Response) => Promise<T> = bodyOf,
  beginsWithinMs = kBeginsWithinMs,
): Promise<T> {
  const abort = new AbortController();
  const giveUp = () => abort.abort();
  const { signal } = options;
  if (signal?.aborted) giveUp();
  signal?.addEventListener("abort", giveUp);
  let lateMs = 0; // 0: it is not
  const within = (limitMs: number) =>
    setTimeout(() => {
      lateMs = limitMs;
      giveUp();
    }, limitMs);
  let timer = within(beginsWithinMs);
  try {
    const response = await reach(path, { ...options, signal: abort.signal });
    clearTimeout(timer);
    timer = within(kEndsWithinMs);
    return await take(response);
  } catch (error) {
    if (lateMs === 0) throw error;
    const detail = `The server has not answered within ${lateMs / 1000} s. Check how it is.`;
    throw new Problem(0, kNoAnswer, detail);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

const askForJobs = <T>(path: string, options: RequestInit) =>
  ask<T>(path, options, bodyOf, kJobsBeginWithinMs);

const kAsJson: RequestInit = { headers: { accept: "application/json" } };

function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(`/api/v1${path}`, { ...kAsJson, signal: signal ?? null });
}

const asQuery = (parameters: string) => (parameters ? `?${parameters}` : "");

export const fetchRuns = (query: URLSearchParams, signal?: AbortSignal) =>
  get<RunList>(`/runs?${query}`, signal);
export const fetchChoices = () => get<RunChoices>("/choices");
export const fetchRun = (id: number, signal?: AbortSignal) =>
  get<RunDetails>(`/runs/${id}`, signal);
export const fetchRunLog = (id: number, query: URLSearchParams, signal?: AbortSignal) =>
  get<RunLog>(`/runs/${id}/log?${query}`, signal);
export const fetchRunLogMatches = (id: number, query: URLSearchParams, signal?: AbortSignal) =>
  get<RunLogMatches>(`/runs/${id}/log/matches?${query}`, signal);
// Of files that the browser itself keeps, whatever their size.
export const runLogTextHref = (id: number) => `/api/v1/runs/${id}/log/text`;
export const jobLogTextHref = (id: number, of: JobLog["of"]) =>
  `/api/v1/jobs/${id}/log/text?of=${of}`;
export const fetchSteps = (id: number, signal?: AbortSignal) =>
  get<Steps>(`/runs/${id}/steps`, signal);
// `over`: the window and the steps that are left out, as a query.
export const fetchStatistics = (id: number, over: string, signal?: AbortSignal) =>
  get<RunStatistics>(`/runs/${id}/statistics${asQuery(over)}`, signal);
export const fetchMetrics = (id: number, over: string, signal?: AbortSignal) =>
  get<RunMetrics>(`/runs/${id}/metrics${asQuery(over)}`, signal);
export const fetchAgreement = (id: number, over: string, signal?: AbortSignal) =>
  get<RunAgreement>(`/runs/${id}/agreement${asQuery(over)}`, signal);
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
export const fetchFailures = (query: URLSearchParams, signal?: AbortSignal) =>
  get<Failures>(`/failures?${query}`, signal);
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

export interface ToldStatus {
  status: Status;
  toldAtMs: number; // by the server's clock, to the second; NaN where it does not say
}

export const fetchStatus = () =>
  ask<ToldStatus>("/api/v1/status", kAsJson, async (response) => ({
    status: await bodyOf<Status>(response),
    toldAtMs: Date.parse(response.headers.get("date") ?? ""),
  }));

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
  askForJobs<DryRunList>("/api/v1/jobs?dry_run=true", submission(body, token, {}));
export const submitJobs = (body: string, token: string, key: string) =>
  askForJobs<Submitted>("/api/v1/jobs", submission(body, token, { "idempotency-key": key }));

export const cancelJob = (id: number, token: string) =>
  askForJobs<Job>(`/api/v1/jobs/${id}`, {
    method: "DELETE",
    headers: { accept: "application/json", authorization: `Bearer ${token}` },
  });

// Not ready is an answer, too: its causes are what the health page shows.
export const fetchReadiness = () =>
  ask<Readiness["causes"]>("/readyz", kAsJson, async (response) => {
    const body = (await response.json()) as { causes?: Readiness["causes"] };
    return body.causes ?? [];
  });
