// The search in a run's log: what is looked for stands in the URL; each line that is found leads to
// its place in the log.
import { useEffect, useMemo } from "preact/hooks";
import { formatCount } from "../format";
import { foundWords, hasGrown, markedParts } from "../log_search_words";
import { ProblemPanel } from "../parts/panels";
import { PassingButton } from "../parts/passing_button";
import { useTyped } from "../parts/typed";
import { logPlace, lookAtLog } from "../state/log_place";
import { expressionOf, isExpression, LogSearch } from "../state/log_search";
import { queryValue, setQuery } from "../state/page_query";

const kKey = "find";
const kWantedMax = 500; // the server's own limit

interface SearchProps {
  runId: number;
  sizeBytes: number; // of its log by now
}

export function RunLogSearch({ runId, sizeBytes }: SearchProps) {
  const wanted = queryValue(kKey);
  const [typed, setTyped] = useTyped(wanted);
  const search = useMemo(() => new LogSearch(runId), [runId]);
  useEffect(() => {
    void search.find(wanted);
    return () => search.stop();
  }, [search, wanted]);
  const submit = (event: Event) => {
    event.preventDefault();
    // The same once more: the log may have grown.
    if (typed === wanted) void search.find(wanted);
    else setQuery(kKey, typed);
  };
  return (
    <div class="log-search no-print">
      <form role="search" aria-label="in the log" onSubmit={submit}>
        <input
          type="search"
          aria-label="Find in the log"
          placeholder="Find a text, or /an expression/"
          maxLength={kWantedMax}
          value={typed}
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit">Find</button>
      </form>
      {isExpression(wanted) && <TakenAsExpression wanted={wanted} />}
      <Results search={search} wanted={wanted} sizeBytes={sizeBytes} />
    </div>
  );
}

const fieldAbove = (button: HTMLElement) =>
  button.closest(".log-search")?.querySelector<HTMLElement>("input");

function TakenAsExpression({ wanted }: { wanted: string }) {
  const isOfAnyCase = wanted.endsWith("/i");
  return (
    <p class="sub">
      Taken as an expression{isOfAnyCase ? ", in any case" : ", its capitals as they are"}.
      {!isOfAnyCase && (
        <>
          {" "}
          <PassingButton
            class="log-link"
            heir={fieldAbove}
            onClick={() => setQuery(kKey, expressionOf(wanted))}
          >
            Look for the text
          </PassingButton>
        </>
      )}
    </p>
  );
}

interface ResultsProps extends Pick<SearchProps, "sizeBytes"> {
  search: LogSearch;
  wanted: string;
}

function Results({ search, wanted, sizeBytes }: ResultsProps) {
  const found = search.found.value;
  const problem = search.problem.value;
  const goOn = () => void search.goOn();
  return (
    <>
      <p class="sub" role="status">
        {foundWords(found, sizeBytes)}
      </p>
      {problem && <ProblemPanel problem={problem} retry={goOn} />}
      {found.lines.length > 0 && (
        <ol class="log-found" aria-label="Lines that were found" tabIndex={0}>
          {found.lines.map(({ offset, text, is_cut }) => (
            <li key={offset}>
              <button
                type="button"
                class="log-link"
                aria-current={logPlace() === offset ? "true" : undefined}
                onClick={() => lookAtLog(offset)}
              >
                <span class="log-offset">{formatCount(offset)}</span>
                <code>
                  <Marked text={text} wanted={wanted} />
                  {is_cut && " …"}
                </code>
              </button>
            </li>
          ))}
        </ol>
      )}
      {found.phase === "searching" && (
        <button type="button" class="quiet" onClick={() => search.stop()}>
          Stop
        </button>
      )}
      {found.phase === "partial" && !problem && (
        <button type="button" class="quiet" onClick={goOn}>
          Go on
        </button>
      )}
      {hasGrown(found, sizeBytes) && (
        <PassingButton class="quiet" heir={fieldAbove} onClick={goOn}>
          Look on
        </PassingButton>
      )}
    </>
  );
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  const parts = markedParts(text, wanted);
  return <>{parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}
