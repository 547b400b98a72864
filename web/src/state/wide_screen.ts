// Whether the screen has room for what a narrower one does without: for every column of the table
// of runs that is usual there.
import { signal } from "@preact/signals";

const query = matchMedia("(min-width: 1620px)");

export const isWideScreen = signal(query.matches);
query.addEventListener("change", () => {
  isWideScreen.value = query.matches;
});
