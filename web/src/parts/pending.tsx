// What stands for an answer until it is there, and above it when asking again has failed.
import type { Answer } from "../state/answer";
import { Loading, ProblemPanel } from "./panels";

// `what` goes on "Loading …".
export function Pending<T>({ answer, what }: { answer: Answer<T>; what: string }) {
  const { value, problem, refresh } = answer;
  if (problem.value) return <ProblemPanel problem={problem.value} retry={refresh} />;
  return value.value === null ? <Loading what={what} /> : null;
}
