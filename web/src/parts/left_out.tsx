// Runs that do not count, each with its reason, and the way to count them all the same.
import type { RunMark } from "../api/types";
import { formatPlural } from "../format";
import { queryValue, setQuery } from "../state/page_query";

interface LeftOut {
  id: number;
  experiment: string;
  path: string;
  marks: RunMark[];
  reason: string;
}

const kNamed = 100;

export function LeftOutRuns({ runs }: { runs: LeftOut[] }) {
  const included = queryValue("include");
  const known = included ? included.split(",") : [];
  const marks = [...new Set(runs.flatMap((run) => run.marks.map(({ mark }) => mark)))];
  const more = marks.filter((mark) => mark !== "no_data" && !known.includes(mark));
  if (runs.length === 0 && !included) return null;
  return (
    <div class="left-out">
      {runs.length > 0 && (
        <details class="twin">
          <summary>{formatPlural(runs.length, "run")} left out</summary>
          <ul>
            {runs.slice(0, kNamed).map((run) => (
              <li key={run.id}>
                <a href={`/runs/${run.id}`}>{run.experiment || run.path}</a>: {run.reason}
              </li>
            ))}
            {runs.length > kNamed && <li>and {formatPlural(runs.length - kNamed, "more run")}</li>}
          </ul>
        </details>
      )}
      {more.length > 0 && (
        <button type="button" onClick={() => setQuery("include", [...known, ...more].join(","))}>
          Count those that are {more.join(", ")}
        </button>
      )}
      {included && (
        <button type="button" class="quiet" onClick={() => setQuery("include", "")}>
          Leave {included.replaceAll(",", ", ")} out again
        </button>
      )}
    </div>
  );
}
