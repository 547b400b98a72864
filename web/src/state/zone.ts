// Whether instants are shown in the reader's own time zone or in UTC.
import type { Zone } from "../format";
import { storedChoice } from "./choices";

const choice = storedChoice<Zone>("llmb.zone", "local", (stored) =>
  stored === "utc" || stored === "local" ? stored : null,
);

export const zone = choice.value;
export const setZone = (next: Zone) => choice.set(next);
