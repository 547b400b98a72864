// What stands for an answer until it is there, and above it when asking again has failed; and how an
// answer looks that is of the question before.
import type { ComponentChildren } from "preact";
import type { Answer } from "../state/answer";
import { Loading, ProblemPanel, type Elsewhere } from "./panels";

interface Props<T> {
  answer: Answer<T>;
  what: string; // goes on "Loading …"
  elsewhere?: Elsewhere; // where the answer is the whole page
}

export function Pending<T>({ answer, what, elsewhere }: Props<T>) {
  const { value, problem, isOld, refresh } = answer;
  if (problem.value) {
    return <ProblemPanel problem={problem.value} retry={refresh} elsewhere={elsewhere} />;
  }
  if (isOld) return <LoadingAnew what={what} />;
  return value.value === null ? <Loading what={what} /> : null;
}

// Lies over what it is said of, so that nothing moves.
export function LoadingAnew({ what }: { what: string }) {
  return (
    <p class="loading-anew" role="status">
      <span>Loading {what} …</span>
    </p>
  );
}

// What follows from an answer. `isOld`: it is of another choice than the page shows.
export function Answered({ isOld, children }: { isOld: boolean; children: ComponentChildren }) {
  return (
    <div class="answered" aria-busy={isOld}>
      {children}
    </div>
  );
}
