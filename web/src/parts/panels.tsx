// What stands where content would be: a failure with its reason, or a hint at what to do.
import type { ComponentChildren } from "preact";
import type { Problem } from "../api/client";

// What was removed on purpose does not come again.
const kGone = 410;

interface ProblemProps {
  problem: Problem;
  retry?: () => void;
}

export function ProblemPanel({ problem, retry }: ProblemProps) {
  return (
    <section class="panel panel-problem" role="alert">
      <h2>{problem.title}</h2>
      <p>{problem.detail}</p>
      {retry && problem.status !== kGone && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
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
