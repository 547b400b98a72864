// Whether long lines of a log are wrapped, as this browser's reader chose.
import { storedChoice } from "./choices";

const choice = storedChoice<boolean>("llmb.wrap_log", false, (stored) =>
  typeof stored === "boolean" ? stored : null,
);

export const wrapsLines = choice.value;
export const chooseWrapping = (wraps: boolean) => choice.set(wraps);
