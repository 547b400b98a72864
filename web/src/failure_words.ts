// What the page of failures says of them, and where its rows lead. Pure.
import type { FailureNode, FailurePeriod, Failures } from "./api/types";
import { formatCause, formatCount, formatPercent, formatPlural } from "./format";
import { kNoCause, writeListState, type ListState } from "./state/list_state";

// "36 of 104 ended runs failed (34.6 %), 60 are complete"
export function summaryWords({ ended, failed, complete }: Failures): string {
  const share = ended > 0 ? ` (${formatPercent(failed / ended)})` : "";
  const of = `${formatCount(failed)} of ${formatPlural(ended, "ended run")} failed${share}`;
  return `${of}, ${formatCount(complete)} ${complete === 1 ? "is" : "are"} complete`;
}

// The list of the runs that a row counts, under the filters of the page.
export function runsOf(state: ListState, own: Partial<ListState>): string {
  const query = writeListState({ ...state, ...own, pick: [] }).toString();
  return query ? `/runs?${query}` : "/runs";
}

export const unexplainedRunsOf = (state: ListState, status: string) =>
  runsOf(state, { status: [status], failure_cause: [kNoCause] });

// "no failure found; 7 did all their steps"
export function unexplainedWords({ all_steps_run: done }: Failures["unexplained"][number]): string {
  if (done === 0) return "no failure found";
  return `no failure found; ${formatCount(done)} did all ${done === 1 ? "its" : "their"} steps`;
}

export function nodesLeftOutWords(leftOut: number): string {
  return `${formatPlural(leftOut, "more node")} ${leftOut === 1 ? "is" : "are"} left out.`;
}

// "3 CUDA out of memory, 1 killed"
export function nodeCauseWords({ causes }: FailureNode): string {
  const most = [...causes].sort((a, b) => b.runs - a.runs);
  return most.map(({ cause, runs }) => `${formatCount(runs)} ${formatCause(cause)}`).join(", ");
}

export const withoutCause = ({ ended, failed, complete }: FailurePeriod) =>
  ended - failed - complete;

const kPeriodWords = { day: "on", week: "in the week from", month: "in the month from" };

export function periodWords(period: Failures["period"], one: FailurePeriod): string {
  const rest = withoutCause(one);
  const parts = [
    `${formatCount(one.failed)} failed`,
    ...(rest > 0 ? [`${formatCount(rest)} not complete, no failure found`] : []),
    `${formatCount(one.complete)} complete`,
  ];
  return `${kPeriodWords[period]} ${one.begins_on}: ${parts.join(", ")}`;
}
