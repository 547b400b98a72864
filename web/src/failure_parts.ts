// The failures of the attempt that ended a run, by what each is to the others: the root first, then
// what other ranks saw of it, then the ends of processes; alike ones told once. Pure.
import type { Failure, LogEvent } from "./api/types";

type Role = NonNullable<LogEvent["role"]>;

export interface FailurePart {
  role: Role;
  cause: string;
  count: number;
  ranks: number[]; // as far as the lines say
  line: string; // of the first
  offset: number;
}

export const kRoleMeanings: Record<Role, string> = {
  root: "the first cause",
  cascade: "what another rank saw of it",
  symptom: "the end of a process",
  survived: "training went on after it",
};

const kOrder: Role[] = ["root", "cascade", "symptom"];

// Of a failure that no line shows (hung), the last attempt's.
function attemptOf(events: readonly LogEvent[], { offset }: Failure): number {
  const own = events.find((event) => event.kind === "failure" && event.offset === offset);
  return own?.attempt ?? Math.max(0, ...events.map(({ attempt }) => attempt));
}

export function failureParts(events: readonly LogEvent[], failure: Failure): FailurePart[] {
  const attempt = attemptOf(events, failure);
  const parts = new Map<string, FailurePart>();
  for (const event of events) {
    if (event.attempt !== attempt || event.role === null || event.role === "survived") continue;
    const { role, cause, line, offset, rank } = event;
    const key = `${role} ${cause}`;
    const part = parts.get(key) ?? { role, cause, count: 0, ranks: [], line, offset };
    parts.set(key, part);
    part.count += 1;
    if (rank !== null && !part.ranks.includes(rank)) part.ranks.push(rank);
  }
  return [...parts.values()].sort((a, b) => kOrder.indexOf(a.role) - kOrder.indexOf(b.role));
}

// What ended the attempts before it, from which the log restarted.
export function earlierRoots(events: readonly LogEvent[], failure: Failure): LogEvent[] {
  const attempt = attemptOf(events, failure);
  return events.filter((event) => event.role === "root" && event.attempt < attempt);
}
