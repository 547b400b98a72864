// "/": every run, filtered and ordered as the URL says, alive.
import { useEffect, useMemo } from "preact/hooks";
import { live } from "../api/live";
import { formatCount, formatPlural } from "../format";
import { HintPanel, Loading, ProblemPanel } from "../parts/panels";
import {
  isFiltered,
  kPageRows,
  listKey,
  nextSort,
  readListState,
  withoutFilters,
  writeListState,
  type ListState,
} from "../state/list_state";
import { hrefOf, navigate, place } from "../state/location";
import { RunListStore } from "../state/run_list";
import { togglePick } from "../state/picks";
import { refreshService, rootList, service } from "../state/service";
import { PickBar } from "./pick_bar";
import { RunsFilters } from "./runs_filters";
import { RunsTable } from "./runs_table";

function go(state: ListState, replace = false): void {
  navigate(hrefOf("/", writeListState(state)), { replace });
}

export function RunsPage() {
  const store = useMemo(() => new RunListStore(), []);
  const state = readListState(place.value.query);
  const key = listKey(state);
  useEffect(() => {
    document.title = "Runs · llmb-report";
    const unlisten = live.listen(store);
    return () => {
      unlisten();
      store.stop();
    };
  }, [store]);
  useEffect(() => void store.load(readListState(place.value.query)), [store, key]);

  const loadMore = async () => {
    const rows = await store.loadMore();
    if (rows > state.rows) go({ ...state, rows }, true);
  };
  const phase = store.phase.value;
  const runs = store.runs.value;
  const problem = store.problem.value;
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
        <p class="count" aria-live="polite">
          {phase === "ready" &&
            (isFiltered(state)
              ? formatPlural(store.total.value, "matching run")
              : formatPlural(store.total.value, "run"))}
        </p>
      </div>
      {(isFiltered(state) || phase !== "ready" || runs.length > 0) && (
        <RunsFilters
          state={state}
          choices={store.choices.value}
          onFilter={(filter, value) =>
            go({ ...state, [filter]: value, rows: kPageRows }, filter === "q")
          }
          onClear={() => go(withoutFilters(state))}
        />
      )}
      {problem && (
        <ProblemPanel
          problem={problem}
          retry={() => {
            void refreshService();
            void store.load(readListState(place.value.query));
          }}
        />
      )}
      {phase === "loading" && <Loading what="runs" />}
      {phase === "ready" && runs.length === 0 && (
        <NoRuns isFiltered={isFiltered(state)} onClear={() => go(withoutFilters(state))} />
      )}
      {runs.length > 0 && (
        <>
          <PickBar picks={state.pick} onClear={() => go({ ...state, pick: [] }, true)} />
          <RunsTable
            runs={runs}
            sort={state.sort}
            picks={state.pick}
            onPick={(id) => go({ ...state, pick: togglePick(state.pick, id) }, true)}
            isBusy={store.isBusy.value}
            onSort={(sortKey, first) =>
              go({ ...state, sort: nextSort(state.sort, sortKey, first), rows: kPageRows })
            }
          />
          {store.nextCursor.value && (
            <p class="more">
              <button type="button" disabled={store.isBusy.value} onClick={() => void loadMore()}>
                Load more
              </button>
              <span>
                {formatCount(runs.length)} of {formatCount(store.total.value)} shown
              </span>
            </p>
          )}
        </>
      )}
    </>
  );
}

function NoRuns({ isFiltered: hasFilter, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (hasFilter) {
    return (
      <HintPanel title="No run matches">
        <p>Loosen a filter, or look at every run.</p>
        <button type="button" onClick={onClear}>
          Clear filters
        </button>
      </HintPanel>
    );
  }
  const roots = rootList.value?.roots ?? [];
  if (rootList.value && roots.length === 0) {
    return (
      <HintPanel title="No tree is watched yet">
        <p>
          Start the server with the folder that holds your experiments. It may be given more than
          once:
        </p>
        <pre>llmb-report serve "$LLMB_WORKLOAD"</pre>
      </HintPanel>
    );
  }
  if (service.value && !service.value.first_scan_done) {
    return (
      <HintPanel title="Looking for logs">
        <p>
          {formatPlural(service.value.files_seen, "log")} found so far. Runs appear here as soon as
          they are read.
        </p>
      </HintPanel>
    );
  }
  return (
    <HintPanel title="No runs yet">
      <p>
        Launch a recipe, and its log will appear here within seconds. Logs are looked for as{" "}
        <code>experiments/…/log-*.out</code> and <code>results/…/*.out</code> in:
      </p>
      <ul>
        {roots.map((root) => (
          <li key={root.id}>
            <code>{root.path}</code>
            {root.error && <span class="sub">{root.error}</span>}
          </li>
        ))}
      </ul>
    </HintPanel>
  );
}
