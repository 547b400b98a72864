// Runs that do not count, each with its reason, and the way to count them all the same.
import type { RunMark } from "../api/types";
import { formatPlural } from "../format";
import { queryValue, setQuery } from "../state/page_query";
import { PassingButton } from "./passing_button";

interface LeftOut {
  id: number;
  experiment: string;
  path: string;
  marks: RunMark[];
  reason: string;
}

const kNamed = 100;

const summaryBeside = (button: HTMLElement) =>
  button.closest(".left-out")?.querySelector<HTMLElement>("summary");

// `count`: how many there are, where not all of them are given.
export function LeftOutRuns({ runs, count = runs.length }: { runs: LeftOut[]; count?: number }) {
  const included = queryValue("include");
  const known = included ? included.split(",") : [];
  const marks = [...new Set(runs.flatMap((run) => run.marks.map(({ mark }) => mark)))];
  const more = marks.filter((mark) => mark !== "no_data" && !known.includes(mark));
  const named = runs.slice(0, kNamed);
  if (runs.length === 0 && !included) return null;
  return (
    <div class="left-out">
      {runs.length > 0 && (
        <details class="twin">
          <summary>{formatPlural(count, "run")} left out</summary>
          <ul>
            {named.map((run) => (
              <li key={run.id}>
                <a href={`/runs/${run.id}`}>{run.experiment || run.path}</a>: {run.reason}
              </li>
            ))}
            {count > named.length && <li>and {formatPlural(count - named.length, "more run")}</li>}
          </ul>
        </details>
      )}
      {more.length > 0 && (
        <button type="button" onClick={() => setQuery("include", [...known, ...more].join(","))}>
          Count those that are {more.join(", ")}
        </button>
      )}
      {included && (
        <PassingButton class="quiet" heir={summaryBeside} onClick={() => setQuery("include", "")}>
          Leave {included.replaceAll(",", ", ")} out again
        </PassingButton>
      )}
    </div>
  );
}
