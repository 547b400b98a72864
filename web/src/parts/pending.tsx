// What stands for an answer until it is there, and above it when asking again has failed.
import type { Answer } from "../state/answer";
import { Loading, ProblemPanel, type Elsewhere } from "./panels";

interface Props<T> {
  answer: Answer<T>;
  what: string; // goes on "Loading …"
  elsewhere?: Elsewhere; // where the answer is the whole page
}

export function Pending<T>({ answer, what, elsewhere }: Props<T>) {
  const { value, problem, refresh } = answer;
  if (problem.value) {
    return <ProblemPanel problem={problem.value} retry={refresh} elsewhere={elsewhere} />;
  }
  return value.value === null ? <Loading what={what} /> : null;
}
