// Says that the oldest of very many runs are in none of a page's figures.
import { formatPlural } from "../format";

export function OlderRuns({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p class="window-note">
      {formatPlural(count, "older run")} left out: only the newest are measured here. One workload,
      one cluster, or <code>llmb-report scaling --db FILE</code> has them all.
    </p>
  );
}
