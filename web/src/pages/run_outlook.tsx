// What a running run is at, and when it will reach the end of its window and its own end.
import type { RunDetails, Steps } from "../api/types";
import { formatClock, formatCount, formatProgress, formatSeconds, formatSpan } from "../format";
import {
  limitWords,
  outlookOf,
  presentIteration,
  type Milestone,
  type Outlook,
} from "../outlook";
import { nowMs } from "../state/service";
import { zone } from "../state/zone";

const kQuietPaces = 4; // silent for more steps than this: the pace says little

export function RunOutlook({ run, steps }: { run: RunDetails; steps: Steps }) {
  if (run.status !== "running") return null;
  const outlook = outlookOf(run, steps, nowMs.value);
  const isHung = run.failure_cause === "hung";
  return (
    <section class="outlook" aria-labelledby="outlook-title">
      <div class="section-head">
        <h2 id="outlook-title">
          Running: iteration {formatProgress(presentIteration(run), run.declared_last_iteration)}
        </h2>
      </div>
      {outlook === null ? (
        <p>No step has a time yet, so there is no saying when the run ends.</p>
      ) : (
        <>
          <dl class="facts">
            <div>
              <dt>Pace</dt>
              <dd>{formatSeconds(outlook.paceS)} a step</dd>
            </div>
            {!isHung && outlook.window && (
              <Reach
                name={`Window whole (iteration ${formatCount(outlook.window.iteration)})`}
                milestone={outlook.window}
              />
            )}
            {!isHung && outlook.end && (
              <Reach
                name={`Last iteration (${formatCount(outlook.end.iteration)})`}
                milestone={outlook.end}
              />
            )}
          </dl>
          <p class="window-note">
            {verdictOn(run, outlook)}
          </p>
        </>
      )}
    </section>
  );
}

function Reach({ name, milestone }: { name: string; milestone: Milestone }) {
  const now = nowMs.value;
  const at = formatClock(now + 1000 * milestone.inSeconds, zone.value, now);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {milestone.isReached
          ? "reached"
          : `in about ${formatSpan(milestone.inSeconds)}, at ${at}`}
      </dd>
    </div>
  );
}

function verdictOn(run: RunDetails, outlook: Outlook): string {
  const { window, silentS, paceS, limit } = outlook;
  if (run.failure_cause === "hung") {
    return "Unless its log goes on, it will reach neither the end of its window nor its own.";
  }
  if (silentS > kQuietPaces * paceS) {
    return (
      `The log has been silent for ${formatSpan(silentS)}, ` +
      `${formatCount(silentS / paceS)} times as long as a step takes: these times may not hold.`
    );
  }
  if (!window) return "";
  const declared = run.declared_last_iteration;
  if (declared !== null && declared < window.iteration) {
    return (
      `It means to end at iteration ${formatCount(declared)}, before its window does ` +
      `(${formatCount(window.iteration)}): it will not be complete.`
    );
  }
  if (limit) return limitWords(outlook, zone.value);
  return window.isReached
    ? "It has passed its window; the result stands once the run ends."
    : "At this pace it reaches the end of its window, unless its job's time limit comes first.";
}
