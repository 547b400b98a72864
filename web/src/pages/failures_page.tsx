// "/failures": what ends runs, and where: by cause, cluster, node and time, under the filters of the
// list of runs.
import { useEffect } from "preact/hooks";
import { fetchFailures } from "../api/client";
import type { FailureNode, Failures } from "../api/types";
import { FailureBars, PeriodTable } from "../chart/failure_bars";
import { clusterKey, kNoCluster } from "../cluster_words";
import {
  nodeCauseWords,
  nodesLeftOutWords,
  runsOf,
  summaryWords,
  unexplainedRunsOf,
  unexplainedWords,
} from "../failure_words";
import { formatCause, formatCount, formatPercent, formatPlural, kUnknown } from "../format";
import { HintPanel } from "../parts/panels";
import { Answered, Pending } from "../parts/pending";
import { Table } from "../parts/table";
import { UnknownKeys } from "../parts/unknown_keys";
import { Ago } from "../parts/values";
import { useAnswer } from "../state/answer";
import { hiddenFilters } from "../state/hidden_filters";
import { hasLaunchBounds } from "../state/launch_days";
import {
  isFiltered,
  listKey,
  readListState,
  withoutFilters,
  writeListState,
  type ListState,
} from "../state/list_state";
import { hrefOf, navigate, place } from "../state/location";
import { usePageTitle } from "../state/page_title";
import { askRunChoices } from "../state/run_choices";
import { statusWord } from "../status_words";
import { FilterChips } from "./filter_chips";
import { LaunchDays } from "./launch_days";
import { RunsChoices } from "./runs_choices";

const kKeys = ["workload", "model_size", "gpu_type", "gpu_count", "cluster", "release"] as const;

const hrefFor = (state: ListState) => hrefOf("/failures", writeListState(state));

export function FailuresPage() {
  usePageTitle("Failures");
  const state = readListState(place.value.query);
  const query = new URLSearchParams(listKey(state));
  query.delete("sort");
  query.delete("limit");
  const answer = useAnswer(
    `failures ${query}`,
    (abort) => fetchFailures(query, abort),
    // With its log's growth a run may have come to its end; the growth of a run in training tells
    // nothing.
    (_, kind) => (kind === "grown" ? "later" : true),
  );
  const failures = answer.value.value;
  return (
    <>
      <div class="page-head">
        <h1>Failures</h1>
        <p class="count">what ends runs, and where</p>
      </div>
      <UnknownKeys />
      <Filters state={state} />
      <Pending
        answer={answer}
        what="the failures"
        elsewhere={{ href: "/failures", words: "See all failures" }}
      />
      {failures && (
        <Answered isOld={answer.isOld}>
          {failures.ended > 0 ? <Told failures={failures} state={state} /> : <Nothing />}
        </Answered>
      )}
    </>
  );
}

function Filters({ state }: { state: ListState }) {
  useEffect(() => void askRunChoices(), []);
  const change = (next: ListState, replace = false) => navigate(hrefFor(next), { replace });
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <RunsChoices keys={kKeys} state={state} onChange={change} />
        <LaunchDays
          state={state}
          // While a day is typed, each one on the way is none that "back" should show again.
          onChange={(bounds) => change({ ...state, ...bounds }, hasLaunchBounds(state))}
        />
        <FilterChips state={state} hidden={hiddenFilters(state, kKeys)} onChange={change} />
        {isFiltered(state) && <a href={hrefFor(withoutFilters(state))}>Clear filters</a>}
      </form>
    </search>
  );
}

function Nothing() {
  return (
    <HintPanel title="No run has ended">
      <p>None that matches has ended, or hangs.</p>
      <p>
        <a href="/failures">Show the failures of all runs</a>, <a href="/runs">see all runs</a>
      </p>
    </HintPanel>
  );
}

interface ToldProps {
  failures: Failures;
  state: ListState;
}

function Told({ failures, state }: ToldProps) {
  const { ended_before: before } = failures;
  return (
    <>
      <section class="failures" aria-labelledby="causes-title">
        <h2 id="causes-title">{summaryWords(failures)}</h2>
        <Causes failures={failures} state={state} />
      </section>
      {failures.periods.length > 0 && (
        <section class="failures" aria-labelledby="time-title">
          <h2 id="time-title">When</h2>
          <FailureBars failures={failures} />
          <PeriodTable failures={failures} />
          {before > 0 && (
            <p class="window-note">{formatPlural(before, "run")} began before that.</p>
          )}
        </section>
      )}
      <Clusters failures={failures} state={state} />
      <Nodes failures={failures} />
    </>
  );
}

type Counted = Pick<FailureNode, "newest_run" | "newest_began_at">;

function Newest({ of: { newest_run: run, newest_began_at: at } }: { of: Counted }) {
  return (
    <>
      <a href={`/runs/${run}`}>run {run}</a>{" "}
      <span class="sub">
        <Ago at={at} />
      </span>
    </>
  );
}

function Causes({ failures, state }: ToldProps) {
  if (failures.ended === failures.complete) return <p>Every run that ended is complete.</p>;
  const causes = failures.causes.map((one) => [
    <>
      <a href={runsOf(state, { failure_cause: [one.cause] })}>{formatCause(one.cause)}</a>
      {one.running > 0 && (
        <span class="sub">{formatPlural(one.running, "run")} not over by now</span>
      )}
    </>,
    formatCount(one.runs),
    formatPercent(one.share),
    <Newest of={one} />,
    <span class="wraps advice-cell">{one.advice ?? kUnknown}</span>,
  ]);
  const unexplained = failures.unexplained.map((one) => [
    <>
      <a href={unexplainedRunsOf(state, one.status)}>{statusWord(one.status)}</a>
      <span class="sub">{unexplainedWords(one)}</span>
    </>,
    formatCount(one.runs),
    formatPercent(one.share),
    <Newest of={one} />,
    <span class="wraps advice-cell">See the runs: each gives the reason of its status.</span>,
  ]);
  return (
    <Table
      name="Causes"
      heads={["cause", "#runs", "#share", "newest", "what to do"]}
      rows={[...causes, ...unexplained]}
      isStacked
    />
  );
}

function Clusters({ failures: { clusters }, state }: ToldProps) {
  if (clusters.length < 2) return null;
  return (
    <section class="failures" aria-labelledby="clusters-title">
      <h2 id="clusters-title">On which clusters</h2>
      <Table
        name="Clusters"
        heads={["cluster", "#ended", "#failed", "#share"]}
        rows={clusters.map(({ cluster, ended, failed, share }) => [
          <a href={hrefFor({ ...state, cluster: [clusterKey(cluster)] })}>
            {cluster ?? kNoCluster}
          </a>,
          formatCount(ended),
          formatCount(failed),
          formatPercent(share),
        ])}
      />
    </section>
  );
}

// With the runs before it: a node that fails again is looked at in all of them.
function NewestOfNode({ of: node }: { of: Failures["nodes"][number] }) {
  const earlier = node.newest_runs.slice(1);
  return (
    <>
      <Newest of={node} />
      {earlier.length > 0 && (
        <span class="sub wraps">
          before it{" "}
          {earlier.map((run, i) => (
            <span key={run}>
              {i > 0 && ", "}
              <a href={`/runs/${run}`}>{run}</a>
            </span>
          ))}
          {node.runs > node.newest_runs.length && " …"}
        </span>
      )}
    </>
  );
}

function Nodes({ failures }: { failures: Failures }) {
  const { nodes, nodes_left_out: leftOut, nodes_are_of_all: areOfAll } = failures;
  return (
    <section class="failures" aria-labelledby="nodes-title">
      <h2 id="nodes-title">On which nodes</h2>
      {nodes.length === 0 && <p>No log names the node where a failure happened.</p>}
      {nodes.length > 0 && (
        <Table
          name="Nodes"
          heads={["node", "#runs", "newest", "failed by"]}
          rows={nodes.map((one) => [
            one.node,
            formatCount(one.runs),
            <NewestOfNode of={one} />,
            <span class="wraps">{nodeCauseWords(one)}</span>,
          ])}
          isTall
          isStacked
        />
      )}
      {nodes.length > 0 && (
        <p class="window-note">
          As the logs name them: in the failure's own line, or where Slurm says that the rank's task
          ended.
          {leftOut > 0 && ` ${nodesLeftOutWords(leftOut)}`}
          {!areOfAll && " Read are those of the 10,000 failed runs that were stored last."}
        </p>
      )}
    </section>
  );
}
