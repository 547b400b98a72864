// Why a run failed: the first cause with the line that shows it, what can be done about it, and
// what part each failure of the log has in it.
import type { Failure, LogEvent, RunDetails } from "../api/types";
import { earlierRoots, failureParts, type FailurePart } from "../failure_parts";
import { LogLink } from "../parts/log_link";
import { RoleMark } from "../parts/role_mark";
import { formatCause, formatCount, formatPlural } from "../format";
import { statusWord } from "../status_words";

const kRanksNamed = 8;

export function RunFailure({ run, failure }: { run: RunDetails; failure: Failure }) {
  const parts = failureParts(run.events, failure);
  const earlier = earlierRoots(run.events, failure);
  return (
    <section class="failure-card" aria-labelledby="failure-title">
      <div class="section-head">
        <h2 id="failure-title">{headOf(run.status, failure.cause)}</h2>
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
      {parts.some(({ role }) => role !== "root") && <Parts parts={parts} />}
      {earlier.length > 0 && <Earlier roots={earlier} />}
    </section>
  );
}

// A run that stopped or hung has not the status "failed".
function headOf(status: RunDetails["status"], cause: string): string {
  if (cause === "hung" && status === "running") return "It seems to hang";
  const hasFailed = status !== "incomplete" && status !== "invalid";
  return `Why it ${hasFailed ? "failed" : `is ${statusWord(status)}`}: ${formatCause(cause)}`;
}

function ranksText({ count, ranks }: FailurePart): string {
  const named = ranks.slice(0, kRanksNamed).join(", ");
  const unnamed = ranks.length - kRanksNamed;
  const more = unnamed > 0 ? ` and ${formatCount(unnamed)} more` : "";
  const word = ranks.length === 1 ? "rank" : "ranks";
  const where = ranks.length > 0 ? ` on ${word} ${named}${more}` : "";
  return (count > 1 ? `, ${formatCount(count)} times` : "") + where;
}

// The root's line is quoted above them.
function Parts({ parts }: { parts: FailurePart[] }) {
  return (
    <>
      <h3 id="parts-title">The failures of this attempt, root first</h3>
      <ol class="failure-parts" aria-labelledby="parts-title">
        {parts.map((part) => (
          <li key={`${part.role} ${part.cause}`}>
            <RoleMark role={part.role} /> {formatCause(part.cause)}
            {ranksText(part)}
            {part.role !== "root" && (
              <>
                : <code>{part.line}</code>
              </>
            )}{" "}
            <LogLink offset={part.offset} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Earlier({ roots }: { roots: LogEvent[] }) {
  return (
    <>
      <h3 id="earlier-title">What ended the attempts before it</h3>
      <ol class="failure-parts" aria-labelledby="earlier-title">
        {roots.map((event) => (
          <li key={event.offset}>
            <RoleMark role="root" /> {formatCause(event.cause)} in attempt{" "}
            {formatCount(event.attempt + 1)}: <code>{event.line}</code>{" "}
            <LogLink offset={event.offset} />
          </li>
        ))}
      </ol>
    </>
  );
}

function whereText(failure: Failure): string {
  const parts = [
    failure.rank !== null && `rank ${formatCount(failure.rank)}`,
    failure.node !== null && `on ${failure.node}`,
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
