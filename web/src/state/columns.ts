// Which columns the table of runs shows, as this browser's reader chose.
import { signal } from "@preact/signals";
import { storedChoice } from "./choices";

const choice = storedChoice<string[] | null>("llmb.columns", null, (stored) =>
  Array.isArray(stored) && stored.every((key) => typeof key === "string") ? stored : null,
);

// The keys of those that the table has no room for just now.
export const columnsWithoutRoom = signal<readonly string[]>([]);

// Null: the usual ones.
export const chosenColumns = choice.value;
export const chooseColumns = (keys: string[] | null) => choice.set(keys);
