// When a running run reaches the end of its window and its own end, as far as its newest steps
// tell. Pure.
import type { Run, Steps } from "./api/types";
import { parseWindow } from "./state/window";

const kNewestSteps = 10; // the pace is their median

export interface Milestone {
  iteration: number;
  isReached: boolean;
  inSeconds: number; // from now, were every step as long as the newest ones
}

export interface Outlook {
  paceS: number; // seconds of a step
  window: Milestone | null;
  end: Milestone | null;
  silentS: number; // since the log grew
}

function medianOf(values: number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

// Null where no step of the segment has a time, or the run is not running.
export function outlookOf(run: Run, steps: Steps, nowMs: number): Outlook | null {
  const last = run.last_iteration;
  if (run.status !== "running" || last === null) return null;
  const times = steps.step_time_s.filter(
    (time, at): time is number => time !== null && steps.segment[at] === run.segment,
  );
  const paceS = medianOf(times.slice(-kNewestSteps));
  if (paceS === null) return null;
  const silentS = Math.max(0, (nowMs - Date.parse(run.grown_at)) / 1000);
  const milestone = (iteration: number | null | undefined): Milestone | null =>
    iteration === null || iteration === undefined
      ? null
      : {
          iteration,
          isReached: iteration <= last,
          // What has passed since the newest step counts, but no more than one step's time.
          inSeconds: Math.max(0, (iteration - last) * paceS - Math.min(silentS, paceS)),
        };
  return {
    paceS,
    window: milestone(parseWindow(run.window)?.last),
    end: milestone(run.declared_last_iteration),
    silentS,
  };
}
