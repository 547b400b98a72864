// What a failure of a log is to the others of its attempt, as a word with its meaning at hand.
import type { LogEvent } from "../api/types";
import { kRoleMeanings } from "../failure_parts";

export function RoleMark({ role }: { role: NonNullable<LogEvent["role"]> }) {
  return (
    <span class={`role role-${role}`} title={kRoleMeanings[role]}>
      {role}
    </span>
  );
}
