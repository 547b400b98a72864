// The lines of a run's log that hold a text: asked for piece by piece, as the server looks through
// a log of any length a few seconds at a time.
import { batch, signal } from "@preact/signals";
import { asProblem, fetchRunLogMatches, isAbort, type Problem } from "../api/client";
import type { LogLine } from "../api/types";

const kLinesAtOnce = 200; // until the reader asks for more

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

// What between slashes is a regular expression, "/i" behind it: in any case.
export function searchQuery(wanted: string): URLSearchParams {
  const expression = /^\/(.+)\/(i?)$/.exec(wanted);
  if (!expression) return new URLSearchParams({ text: wanted });
  return new URLSearchParams({ pattern: `${expression[2] ? "(?i)" : ""}${expression[1]}` });
}

export class LogSearch {
  readonly found = signal<Found>(kNothing);
  readonly problem = signal<Problem | null>(null);
  private query = new URLSearchParams();
  private request = new AbortController();

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
    const enough = this.found.value.lines.length + kLinesAtOnce;
    this.found.value = { ...this.found.value, phase: "searching" };
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
    const query = new URLSearchParams(this.query);
    query.set("from", String(before.searchedBytes));
    query.set("limit", String(enough - before.lines.length));
    const answer = await fetchRunLogMatches(this.id, query, request.signal);
    request.signal.throwIfAborted();
    const lines = [...before.lines, ...answer.lines];
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
