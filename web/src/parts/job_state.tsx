// A job's state as shape, colour and word.
import type { JobState } from "../api/types";
import { formatKey } from "../format";

type Kind = "waits" | "works" | "done" | "bad" | "odd";

const kKinds: Record<JobState, Kind> = {
  submitting: "waits",
  not_submitted: "bad",
  pending: "waits",
  running: "works",
  suspended: "waits",
  completing: "works",
  completed: "done",
  failed: "bad",
  cancelled: "odd",
  timed_out: "bad",
  node_failed: "bad",
  out_of_memory: "bad",
  preempted: "odd",
  deadline_passed: "bad",
  boot_failed: "bad",
  ended: "done",
  unknown: "odd",
};

const kClasses: Record<Kind, string> = {
  waits: "status-no_data",
  works: "status-running",
  done: "status-complete",
  bad: "status-failed",
  odd: "status-incomplete",
};

export function JobStateMark({ state }: { state: JobState }) {
  const kind = kKinds[state];
  return (
    <span class={`status ${kClasses[kind]}`}>
      <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
        {kind === "waits" && <circle cx="7" cy="7" r="4.75" class="stroke dotted" />}
        {kind === "works" && <path d="M4 2.5 12 7 4 11.5Z" fill="currentColor" />}
        {kind === "done" && <path d="M2.5 7.5 5.5 10.5 11.5 3.5" class="stroke" />}
        {kind === "bad" && <path d="M3 3 11 11M11 3 3 11" class="stroke" />}
        {kind === "odd" && <circle cx="7" cy="7" r="4.75" class="stroke" />}
      </svg>
      {formatKey(state)}
    </span>
  );
}
