// Runs that do not count, each with its reason, and the way to count them all the same.
import { formatPlural } from "../format";
import { markWord } from "../mark_words";
import { measuredRunHref } from "../state/measuring";
import { queryValue, setQuery } from "../state/page_query";
import { PassingButton } from "./passing_button";
import { breakable } from "./values";

interface LeftOut {
  id: number;
  experiment: string;
  path: string;
  reason: string;
}

const kNamed = 100;

const summaryBeside = (button: HTMLElement) =>
  button.closest(".left-out")?.querySelector<HTMLElement>("summary");

// Without a way to count them.
export function LeftOutList({ runs, count = runs.length }: Pick<Props, "runs" | "count">) {
  if (runs.length === 0) return null;
  const named = runs.slice(0, kNamed);
  return (
    <details class="twin">
      <summary>{formatPlural(count, "run")} left out</summary>
      <ul>
        {named.map((run) => (
          <li key={run.id}>
            run {run.id}, <a href={measuredRunHref(run.id)}>{breakable(run.experiment || run.path)}</a>:{" "}
            {run.reason}
          </li>
        ))}
        {count > named.length && <li>and {formatPlural(count - named.length, "more run")}</li>}
      </ul>
    </details>
  );
}

interface Props {
  runs: LeftOut[];
  count?: number; // how many there are, where not all of them are given
  offered: readonly string[]; // the marks by which some of them would count
}

export function LeftOutRuns({ runs, count = runs.length, offered }: Props) {
  const included = queryValue("include");
  const known = included ? included.split(",") : [];
  const more = offered.filter((mark) => !known.includes(mark));
  if (runs.length === 0 && !included) return null;
  return (
    <div class="left-out">
      <LeftOutList runs={runs} count={count} />
      {more.length > 0 && (
        <button type="button" onClick={() => setQuery("include", [...known, ...more].join(","))}>
          Count those that are {more.map(markWord).join(", ")}
        </button>
      )}
      {included && (
        <PassingButton class="quiet" heir={summaryBeside} onClick={() => setQuery("include", "")}>
          Leave {known.map(markWord).join(", ")} out again
        </PassingButton>
      )}
    </div>
  );
}
