// How the run ended, in the log's own words, and the passes over the iterations that it holds.
import type { LogEvent, RunDetails } from "../api/types";
import { LogLink } from "../parts/log_link";
import { RoleMark } from "../parts/role_mark";
import { formatCause, formatCount, formatPlural } from "../format";

export function RunEvents({ run }: { run: RunDetails }) {
  return (
    <>
      {run.segments.length > 1 && <Segments run={run} />}
      {run.events.length > 0 && (
        <section class="log-says" aria-labelledby="events-title">
          <div class="section-head">
            <h2 id="events-title">What the log says</h2>
          </div>
          <ol class="events">
            {run.events.map((event) => (
              <Event key={event.offset} event={event} />
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function Event({ event }: { event: LogEvent }) {
  const isFailure = event.kind === "failure";
  const when =
    event.steps_before === 0
      ? "before the first step"
      : `after ${formatPlural(event.steps_before, "step")}`;
  return (
    <li class={isFailure ? "event event-failure" : "event"}>
      <p>
        <b>{isFailure ? "Failure" : "Finish"}</b>: {formatCause(event.cause)}, {when}{" "}
        {event.role !== null && <RoleMark role={event.role} />}
        <span class="sub">
          at <LogLink offset={event.offset} />
        </span>
      </p>
      <blockquote>
        <code>{event.line}</code>
      </blockquote>
    </li>
  );
}

function Segments({ run }: { run: RunDetails }) {
  return (
    <section aria-labelledby="segments-title">
      <div class="section-head">
        <h2 id="segments-title">Segments</h2>
        <span class="count">the passes over the iterations, numbered from 0</span>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of segments">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">segment</th>
              <th scope="col" class="number">
                iterations
              </th>
              <th scope="col" class="number">
                steps
              </th>
              <th scope="col" class="number">
                of them NaN or infinite
              </th>
            </tr>
          </thead>
          <tbody>
            {run.segments.map((segment) => (
              <tr key={segment.segment}>
                <th scope="row">
                  {segment.segment}
                  {segment.segment === run.segment && " (counts)"}
                </th>
                <td class="number">
                  {formatCount(segment.first_iteration)}–{formatCount(segment.last_iteration)}
                </td>
                <td class="number">{formatCount(segment.step_count)}</td>
                <td class="number">{formatCount(segment.nan_step_count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
