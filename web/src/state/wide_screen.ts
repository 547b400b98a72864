// Whether the screen has room for what a narrower one does without.
import { signal } from "@preact/signals";

const query = matchMedia("(min-width: 1520px)");

export const isWideScreen = signal(query.matches);
query.addEventListener("change", () => {
  isWideScreen.value = query.matches;
});
