// Why a run failed: the first cause with the line that shows it, what can be done about it, and
// what followed from it.
import type { Failure, RunDetails } from "../api/types";
import { LogLink } from "../parts/log_link";
import { formatCause, formatCount, formatPlural } from "../format";

const kFollowersShown = 6;

export function RunFailure({ run, failure }: { run: RunDetails; failure: Failure }) {
  const followers = run.events.filter(
    (event) => event.kind === "failure" && failure.offset !== null && event.offset > failure.offset,
  );
  return (
    <section class="failure-card" aria-labelledby="failure-title">
      <div class="section-head">
        <h2 id="failure-title">
          {failure.cause === "hung" && run.status === "running"
            ? "It seems to hang"
            : `Why it failed: ${formatCause(failure.cause)}`}
        </h2>
      </div>
      {failure.data_is_valid && (
        <p>
          <b>The results stand</b>: the run was complete before this.
        </p>
      )}
      {failure.line !== null && (
        <blockquote>
          <code>{failure.line}</code>
        </blockquote>
      )}
      <p class="sub">
        {whereText(failure)}
        {failure.offset !== null && (
          <>
            {" · "}
            <LogLink offset={failure.offset}>the log around it</LogLink>
          </>
        )}
      </p>
      {failure.advice && (
        <p class="advice">
          <b>What to do:</b> {failure.advice}
        </p>
      )}
      {followers.length > 0 && (
        <details class="twin">
          <summary>{formatPlural(followers.length, "later failure")} followed from it</summary>
          <ul>
            {followers.slice(0, kFollowersShown).map((event) => (
              <li key={event.offset}>
                {formatCause(event.cause)}
                {event.rank !== null && ` on rank ${event.rank}`}: <code>{event.line}</code>{" "}
                <LogLink offset={event.offset} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function whereText(failure: Failure): string {
  const parts = [
    failure.rank !== null && `rank ${formatCount(failure.rank)}`,
    failure.operation !== null && `in ${failure.operation}`,
    failure.steps_before === null
      ? false
      : failure.steps_before === 0
        ? "before the first step"
        : `after ${formatPlural(failure.steps_before, "step")}`,
    failure.offset !== null && `at byte ${formatCount(failure.offset)} of the log`,
  ].filter((part): part is string => Boolean(part));
  const text = parts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
