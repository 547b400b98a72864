// When a running run reaches the end of its window and its own end, as far as its newest steps
// tell. Pure.
import type { RunDetails, Steps } from "./api/types";
import { formatClock, formatCount, type Zone } from "./format";
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
  limit: { atMs: number; iteration: number } | null; // of its job's time: what is done by then
  nowMs: number; // when it is looked at
}

function medianOf(values: number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

// What a run is at: after a restart inside its log another pass than the one that counts.
export function presentIteration(run: RunDetails): number | null {
  return run.segments.at(-1)?.last_iteration ?? run.last_iteration;
}

// Null where no step of the newest pass has a time, or the run is not running.
export function outlookOf(run: RunDetails, steps: Steps, nowMs: number): Outlook | null {
  const last = presentIteration(run);
  if (run.status !== "running" || last === null) return null;
  const newest = steps.segment.at(-1);
  const times = steps.step_time_s.filter(
    (time, at): time is number => time !== null && steps.segment[at] === newest,
  );
  const paceS = medianOf(times.slice(-kNewestSteps));
  if (paceS === null) return null;
  const silentS = Math.max(0, (nowMs - Date.parse(run.grown_at)) / 1000);
  const milestone = (iteration: number | null | undefined, isDone = false): Milestone | null =>
    iteration === null || iteration === undefined
      ? null
      : {
          iteration,
          isReached: isDone || iteration <= last,
          // What has passed since the newest step counts, but no more than one step's time.
          inSeconds: Math.max(0, (iteration - last) * paceS - Math.min(silentS, paceS)),
        };
  const windowEnd = endOfWindow(run, last);
  const isEndOfCounted = windowEnd === parseWindow(run.window)?.last;
  return {
    paceS,
    // An earlier pass may hold it whole.
    window: milestone(windowEnd, isEndOfCounted && run.window_is_whole),
    end: milestone(run.declared_last_iteration),
    silentS,
    limit: limitOf(run, last, paceS, silentS, nowMs),
    nowMs,
  };
}

// Where the last step alone counts, the window is that of the newest one while a run goes on.
function endOfWindow(run: RunDetails, last: number): number | undefined {
  const window = parseWindow(run.window);
  const declared = run.declared_last_iteration;
  const isNewest = window?.first === last && window.last === last;
  return isNewest && declared !== null && declared > last ? declared : window?.last;
}

function limitOf(run: RunDetails, last: number, paceS: number, silentS: number, nowMs: number) {
  const atMs = Date.parse(run.job?.limit_ends_at ?? "");
  if (!Number.isFinite(atMs)) return null;
  const leftS = (atMs - nowMs) / 1000 + Math.min(silentS, paceS);
  return { atMs, iteration: last + Math.max(0, Math.floor(leftS / paceS)) };
}

// What a job's time limit makes of the run; empty where nothing is known of one.
export function limitWords({ window, end, limit, nowMs }: Outlook, zone: Zone): string {
  if (!limit) return "";
  const { iteration } = limit;
  const limitedAt = formatClock(limit.atMs, zone, nowMs);
  const limited =
    `At this pace its job's time limit, at ${limitedAt}, ends it at about iteration ` +
    formatCount(iteration);
  if (window && !window.isReached && iteration < window.iteration) {
    return `${limited}, before its window does (${formatCount(window.iteration)}): it will not be complete.`;
  }
  if (end && iteration < end.iteration) {
    return (
      `${limited}: its window (to ${formatCount(window?.iteration)}) will be whole, but it ends ` +
      `before its last iteration (${formatCount(end.iteration)}) and will not be complete.`
    );
  }
  return `At this pace it ends before its job's time limit, which is at ${limitedAt}.`;
}
