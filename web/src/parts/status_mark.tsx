// A run's status as shape, colour and word, so that none of them is needed alone.
import type { RunStatus } from "../api/types";
import { statusWord } from "../status_words";

function Shape({ status }: { status: RunStatus }) {
  switch (status) {
    case "running":
      return <path d="M4 2.5 12 7 4 11.5Z" fill="currentColor" />;
    case "complete":
      return <path d="M2.5 7.5 5.5 10.5 11.5 3.5" class="stroke" />;
    case "incomplete":
      return (
        <>
          <circle cx="7" cy="7" r="4.75" class="stroke" />
          <path d="M7 2.25a4.75 4.75 0 0 1 0 9.5Z" fill="currentColor" />
        </>
      );
    case "failed":
      return <path d="M3 3 11 11M11 3 3 11" class="stroke" />;
    case "invalid":
      return (
        <>
          <path d="M7 1.8 13 12.2H1Z" class="stroke thin" />
          <path d="M7 5.4V8.6M7 10.2V10.9" class="stroke thin" />
        </>
      );
    default:
      return <circle cx="7" cy="7" r="4.75" class="stroke dotted" />;
  }
}

export function StatusMark({ status }: { status: RunStatus }) {
  return (
    <span class={`status status-${status}`}>
      <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
        <Shape status={status} />
      </svg>
      {statusWord(status)}
    </span>
  );
}
