// How a status of runs is called. Pure.
import type { RunStatus } from "./api/types";
import { kEndedBadly } from "./ended_badly";

const kWords: Record<RunStatus | typeof kEndedBadly, string> = {
  ended_badly: "ended badly",
  running: "running",
  complete: "complete",
  incomplete: "incomplete",
  failed: "failed",
  invalid: "invalid",
  no_data: "no data",
};

export function statusWord(status: string): string {
  return kWords[status as RunStatus] ?? status;
}
