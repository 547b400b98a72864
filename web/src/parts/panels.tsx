// What stands where content would be: a failure with its reason, or a hint at what to do.
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/client";
import { isFinal } from "../final_problem";

export interface Elsewhere {
  href: string;
  words: string;
}

export const kAllRuns: Elsewhere = { href: "/runs", words: "See all runs" };
export const kAllJobs: Elsewhere = { href: "/jobs", words: "See all jobs" };

interface ProblemProps {
  problem: Problem;
  retry?: () => void;
  elsewhere?: Elsewhere | undefined; // of a whole page: where to go when asking again is of no use
}

export function ProblemPanel({ problem, retry, elsewhere }: ProblemProps) {
  const isOver = isFinal(problem.status, elsewhere !== undefined);
  return (
    <section class="panel panel-problem" role="alert">
      <h2>{problem.title}</h2>
      <p>{problem.detail}</p>
      {retry && !isOver && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
      {elsewhere && isOver && <a href={elsewhere.href}>{elsewhere.words}</a>}
    </section>
  );
}

export function HintPanel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="panel">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}
