// "/runs": every run, filtered and ordered as the URL says, alive.
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { live } from "../api/live";
import { formatPlural } from "../format";
import { HintPanel, kAllRuns, Loading, ProblemPanel } from "../parts/panels";
import { LoadingAnew } from "../parts/pending";
import { PassingButton } from "../parts/passing_button";
import { StaleNote } from "../parts/stale_note";
import { UnknownKeys } from "../parts/unknown_keys";
import { runsCountWords } from "../runs_words";
import { chosenColumns } from "../state/columns";
import {
  exportHref,
  isFiltered,
  listKey,
  nextSort,
  readListState,
  withoutFilters,
  writeListState,
  type ListState,
} from "../state/list_state";
import { hrefOf, navigate, place, visit } from "../state/location";
import { isPrinted } from "../state/paper";
import { usePageTitle } from "../state/page_title";
import { compareHref, kPicksMin, togglePick } from "../state/picks";
import { RunListStore } from "../state/run_list";
import { rememberedScroll, rememberScroll, runsHref } from "../state/runs_place";
import { isReturn } from "../state/scroll_places";
import { refreshService, rootList, service } from "../state/service";
import { isWideScreen } from "../state/wide_screen";
import { ColumnChoice } from "./column_choice";
import { PickBar } from "./pick_bar";
import { shownColumns, type Column } from "./runs_columns";
import { RunsFilters } from "./runs_filters";
import { printedRows, RunsTable } from "./runs_table";
import { SavedViews } from "./saved_views";
import { TableKeys } from "./table_keys";

const kPath = "/runs";

function go(state: ListState, replace = false): void {
  navigate(hrefOf(kPath, writeListState(state)), { replace });
}

// As the URL has them by now: keys may come faster than the page is drawn.
function comparePicked(): void {
  const { pick } = readListState(place.value.query);
  if (pick.length >= kPicksMin) visit(compareHref(pick));
}

// One for the life of the page: who comes back finds the rows as they were, kept up to date.
let kept: { store: RunListStore; key: string } | null = null;

function keptStore(): { store: RunListStore; key: string } {
  if (!kept) {
    kept = { store: new RunListStore(), key: "" };
    live.listen(kept.store);
  }
  return kept;
}

// Remembers how far the list is scrolled, and goes there again when a link leads back to it.
function useScrollMemory(key: string, isReady: boolean): void {
  useLayoutEffect(() => {
    if (!isReady) return;
    const top = rememberedScroll(key);
    if (top > 0 && !isReturn()) scrollTo(0, top);
    const remember = () => {
      if (place.value.path === kPath) rememberScroll(key, scrollY);
    };
    addEventListener("scroll", remember, { passive: true });
    return () => removeEventListener("scroll", remember);
  }, [key, isReady]);
}

export function RunsPage() {
  const memory = useMemo(keptStore, []);
  const { store } = memory;
  const state = readListState(place.value.query);
  const key = listKey(state);
  usePageTitle("Runs");
  useEffect(() => {
    runsHref.value = hrefOf(kPath, writeListState(state));
  });
  useLayoutEffect(() => {
    if (memory.key === key) return;
    memory.key = key;
    void store.load(readListState(place.value.query)); // asked for before the page is painted
  }, [key]);

  const phase = store.phase.value;
  const runs = store.runs.value;
  const problem = store.problem.value;
  const columns = useMemo(
    () => shownColumns(chosenColumns.value, isWideScreen.value),
    [chosenColumns.value, isWideScreen.value],
  );
  useScrollMemory(key, runs.length > 0 && memory.key === key);
  const [clearings, setClearings] = useState(0);
  const clear = () => {
    setClearings(clearings + 1);
    go(withoutFilters(state));
  };
  return (
    <>
      <RunsHead state={state} store={store} />
      {(isFiltered(state) || phase !== "ready" || runs.length > 0) && (
        <RunsFilters
          state={state}
          onChange={go}
          clearings={clearings}
          onClear={clear}
        />
      )}
      {problem && (
        <ProblemPanel
          problem={problem}
          elsewhere={kAllRuns}
          retry={() => {
            void refreshService();
            void store.load(readListState(place.value.query));
          }}
        />
      )}
      {phase === "loading" && <Loading what="runs" />}
      {phase === "ready" && runs.length === 0 && (
        <NoRuns isFiltered={isFiltered(state)} onClear={clear} />
      )}
      {runs.length > 0 && <RunsList state={state} store={store} columns={columns} />}
    </>
  );
}

interface ListProps {
  state: ListState;
  store: RunListStore;
  columns: Column[];
}

function RunsHead({ state, store }: Omit<ListProps, "columns">) {
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
        <p class="count" aria-live="polite">
          {store.phase.value === "ready" &&
            !store.isOld.value &&
            runsCountWords({
              total: store.total.value,
              isTotalExact: store.isTotalExact.value,
              isFiltered: isFiltered(state),
              ...(isPrinted.value ? { printed: printedRows(store.runs.value.length) } : {}),
            })}
        </p>
        <StaleNote answeredAt={store.answeredAt.value} />
      </div>
      <UnknownKeys />
    </>
  );
}

function RunsList({ state, store, columns }: ListProps) {
  const runs = store.runs.value;
  return (
    <>
      <div class="list-bar">
        <PickBar picks={state.pick} onClear={() => go({ ...state, pick: [] }, true)} />
        <ListNews store={store} />
        <span class="exports">
          <a href={exportHref(state, "csv")} download>
            CSV
          </a>
          <a href={exportHref(state, "ndjson")} download>
            NDJSON
          </a>
        </span>
        <SavedViews state={state} />
        <ColumnChoice />
        <TableKeys />
      </div>
      {printedRows(runs.length) < store.total.value && (
        <p class="on-paper">The other runs are not printed; the file CSV has all.</p>
      )}
      {store.isOld.value && <LoadingAnew what="runs" />}
      <div class="runs-frame answered" aria-busy={store.isOld.value}>
        <RunsTable
          runs={runs}
          rowCount={store.rowCount.value}
          columns={columns}
          sort={state.sort}
          picks={state.pick}
          onPick={(id) => go({ ...state, pick: togglePick(state.pick, id) }, true)}
          onCompare={comparePicked}
          isBusy={store.isBusy.value}
          onSort={(sortKey, first) => go({ ...state, sort: nextSort(state.sort, sortKey, first) })}
          onLook={(end) => void store.ensure(end)}
        />
      </div>
    </>
  );
}

const sortedHead = () =>
  document.querySelector<HTMLElement>('table.runs th[aria-sort$="ending"] button');

// What the rows no longer are, with the way to make them so again.
function ListNews({ store }: { store: RunListStore }) {
  const hasNews = store.hasNews.value;
  if (!hasNews && !store.isOrderOld.value) return <span role="status" />;
  return (
    <span class="list-news" role="status">
      {!hasNews && "Runs have changed since this list was sorted; they keep their places."}
      <PassingButton
        heir={sortedHead}
        onClick={() => {
          if (hasNews) scrollTo(0, 0);
          void store.load(readListState(place.value.query));
        }}
      >
        {hasNews ? "Runs came or changed: show them" : "Sort again"}
      </PassingButton>
    </span>
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
        <pre tabIndex={0}>llmb-report serve "$LLMB_WORKLOAD"</pre>
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
