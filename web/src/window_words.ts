// What the steps over which a run is measured are, in words. Pure.
import type { RunStatistics } from "./api/types";
import { formatCount, formatPlural } from "./format";

type Measured = Pick<
  RunStatistics,
  | "window"
  | "window_is_whole"
  | "iterations_missing_in_window"
  | "steps_left_out"
  | "step_time_s"
  | "tflops_per_gpu"
>;

const kLeftOut = "left out, but for what is held against published figures";

const isEmpty = (measured: Measured) => !measured.step_time_s && !measured.tflops_per_gpu;

// Then no figure of the window has a value, although its steps are in the log.
export function isAllLeftOut(measured: Measured): boolean {
  return isEmpty(measured) && measured.steps_left_out > 0;
}

export function windowWords(measured: Measured, isRunning: boolean): string {
  const { window, steps_left_out: leftOut, iterations_missing_in_window: missing } = measured;
  if (isAllLeftOut(measured)) {
    const those = leftOut === 1 ? "the one step that it holds is" : `all ${formatCount(leftOut)} steps of it are`;
    return `Window ${window} has no figures: ${those} ${kLeftOut}.`;
  }
  if (!measured.window_is_whole && isEmpty(measured)) {
    return `Window ${window} holds no step${isRunning ? " yet" : ""}.`;
  }
  const whole = measured.window_is_whole
    ? `Window ${window} is whole.`
    : `Window ${window} lacks ${formatPlural(missing, "iteration")}: the figures are of the rest.`;
  return leftOut > 0 ? `${whole} ${formatPlural(leftOut, "step")} of it ${kLeftOut}.` : whole;
}

// Why the log's own rate has no value over the window.
export function noTflopsWords(measured: Measured): string {
  if (isAllLeftOut(measured)) return "Every step of the window is left out.";
  return measured.steps_left_out > 0
    ? "The log prints none for the steps that count."
    : "The log prints none in this window.";
}
