// The way back to the table of runs, as it was left: filters, order and place.
import { runsHref } from "../state/runs_place";

export function BackToRuns() {
  return (
    <p class="back">
      <a href={runsHref.value}>← Runs</a>
    </p>
  );
}
