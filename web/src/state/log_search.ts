// The lines of a run's log that hold a text: asked for piece by piece, as the server looks through
// a log of any length a few seconds at a time.
import { batch, signal } from "@preact/signals";
import { asProblem, fetchRunLogMatches, isAbort, type Problem } from "../api/client";
import type { LogLine } from "../api/types";

const kLinesAtOnce = 200; // until the reader asks for more
const kLinesAsked = 500; // the server's own limit for one question

export interface Found {
  // "partial": the reader stopped it, or there may be more than what is shown.
  phase: "idle" | "searching" | "partial" | "done";
  lines: LogLine[];
  searchedBytes: number;
  sizeBytes: number;
  hasGaps: boolean; // some of the log is not on the server
}

const kNothing: Found = {
  phase: "idle",
  lines: [],
  searchedBytes: 0,
  sizeBytes: 0,
  hasGaps: false,
};

// What between slashes is a regular expression, "/i" behind it: in any case. A slash within one has
// a backslash before it, so that a path is a text.
const kExpression = /^\/((?:[^\\/]|\\.)+)\/(i?)$/;

export const isExpression = (wanted: string) => kExpression.test(wanted);

export function searchQuery(wanted: string): URLSearchParams {
  const expression = kExpression.exec(wanted);
  if (!expression) return new URLSearchParams({ text: wanted });
  return new URLSearchParams({ pattern: `${expression[2] ? "(?i)" : ""}${expression[1]}` });
}

// The expression that finds what `text` would find if it were none.
export function expressionOf(text: string): string {
  return `/${text.replace(/[\\^$.|?*+()[\]{}/]/g, "\\$&")}/i`;
}

export class LogSearch {
  readonly found = signal<Found>(kNothing);
  readonly problem = signal<Problem | null>(null);
  private query = new URLSearchParams();
  private request = new AbortController();
  private lastFrom = 0; // where a line begins, unlike where the log ended

  constructor(readonly id: number) {}

  async find(wanted: string): Promise<void> {
    this.request.abort();
    batch(() => {
      this.found.value = kNothing;
      this.problem.value = null;
    });
    if (wanted === "") return;
    this.query = searchQuery(wanted);
    await this.goOn();
  }

  async goOn(): Promise<void> {
    this.request.abort();
    const request = new AbortController();
    this.request = request;
    const { phase, searchedBytes, lines } = this.found.value;
    const enough = lines.length + kLinesAtOnce;
    // Of a log that has grown the last line may have been written in part.
    const from = phase === "done" ? this.lastFrom : searchedBytes;
    this.found.value = { ...this.found.value, phase: "searching", searchedBytes: from };
    try {
      while (this.found.value.phase === "searching") await this.askOnce(request, enough);
    } catch (error) {
      if (isAbort(error)) return;
      batch(() => {
        this.problem.value = asProblem(error);
        this.found.value = { ...this.found.value, phase: "partial" };
      });
    }
  }

  stop(): void {
    this.request.abort();
    const { phase } = this.found.value;
    if (phase === "searching") this.found.value = { ...this.found.value, phase: "partial" };
  }

  private async askOnce(request: AbortController, enough: number): Promise<void> {
    const before = this.found.value;
    const from = before.searchedBytes;
    const kept = before.lines.filter(({ offset }) => offset < from);
    const query = new URLSearchParams(this.query);
    query.set("from", String(from));
    query.set("limit", String(Math.min(enough - kept.length, kLinesAsked)));
    const answer = await fetchRunLogMatches(this.id, query, request.signal);
    request.signal.throwIfAborted();
    this.lastFrom = from;
    const lines = [...kept, ...answer.lines];
    const isDone = answer.next_offset === null;
    const phase = isDone ? "done" : lines.length >= enough ? "partial" : "searching";
    batch(() => {
      this.problem.value = null;
      this.found.value = {
        phase,
        lines,
        searchedBytes: answer.next_offset ?? answer.size_bytes,
        sizeBytes: answer.size_bytes,
        hasGaps: before.hasGaps || answer.has_gaps,
      };
    });
  }
}
