// Says how old what is shown is, while the stream of changes is broken.
import { live } from "../api/live";
import { formatSpan } from "../format";
import { hereMs } from "../state/service";

const kFreshMs = 15_000;

export function StaleNote({ answeredAt }: { answeredAt: number }) {
  const ageMs = hereMs.value - answeredAt;
  if (live.connection.value === "live" || answeredAt === 0 || ageMs < kFreshMs) return null;
  return (
    <p class="stale">
      <span role="status">Not up to date</span>: as it was {formatSpan(ageMs / 1000)} ago
    </p>
  );
}
