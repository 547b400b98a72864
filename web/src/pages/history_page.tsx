// "/history": did anything get slower? Each configuration's step time over its runs in time, with
// the changes of its level, and what changed with them in the configuration.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { fetchHistory, fetchRun } from "../api/client";
import type { History, HistoryLeftOut, HistorySeries } from "../api/types";
import { formatPlural } from "../format";
import {
  isWithin,
  seriesName,
  seriesNames,
  otherWindowsWords,
  summaryWords,
  toldChanges,
  type ToldChange,
} from "../history_words";
import { countableMarks, leftOutReasons, markWord } from "../mark_words";
import { LeftOutRuns } from "../parts/left_out";
import { MeasuredOver } from "../parts/measured_over";
import { OlderRuns } from "../parts/older_runs";
import { HintPanel, kAllRuns } from "../parts/panels";
import { Answered, Pending } from "../parts/pending";
import { Instant } from "../parts/values";
import { ClusterChoice } from "../parts/cluster_choice";
import { UnknownKeys } from "../parts/unknown_keys";
import { UnknownCluster, UnknownValue } from "../parts/unknown_value";
import { WorkloadChoice } from "../parts/workload_choice";
import { useAnswer } from "../state/answer";
import { isUnknownCluster, learnClusters } from "../state/clusters";
import { historyOf, kHistoryKeys, leftOutEntry, sectionlessLeftOut } from "../state/history";
import { hrefOf, navigate } from "../state/location";
import { kMeasuringKeys, measuredRunHref } from "../state/measuring";
import { apiParameters, queryValue, setQuery } from "../state/page_query";
import { usePageTitle } from "../state/page_title";
import { askRunChoices, runChoices } from "../state/run_choices";
import { nowMs } from "../state/service";
import { HistorySection, sectionId } from "./history_section";

const kUsualDays = "30";
const kAnyTime = "any";
const kPeriods = new Map([7, 30, 90].map((days) => [String(days), days]));

const kSectionsAtOnce = 20;

const isPeriod = (days: string) => days === kAnyTime || kPeriods.has(days);

// What the address asks for; the usual period for one that there is not.
function daysAsked(): string {
  const days = queryValue("days");
  return isPeriod(days) ? days : kUsualDays;
}

export function HistoryPage() {
  const query = apiParameters([...kHistoryKeys, "cluster", ...kMeasuringKeys]);
  usePageTitle("History");
  const answer = useAnswer(
    query.toString(),
    async (abort) => {
      const history = await fetchHistory(query, abort);
      learnClusters(history.series);
      return history;
    },
    () => true,
  );
  const history = answer.value.value;
  return (
    <>
      <div class="page-head">
        <h1>History</h1>
        <p class="count">did anything get slower, when, and with what</p>
      </div>
      <UnknownKeys />
      <Filters history={history} />
      {queryValue("days") && !isPeriod(queryValue("days")) && (
        <UnknownValue
          name="days"
          nothing="There is no choice of days"
          every={`Show the changes of the last ${kUsualDays} days`}
        />
      )}
      <Pending answer={answer} what="the history" elsewhere={kAllRuns} />
      {history && (
        <Answered isOld={answer.isOld}>
          <Told history={ofRun(history)} />
        </Answered>
      )}
    </>
  );
}

// Of the run that the query names, if it names one.
function ofRun(history: History): History {
  const run = queryValue("run");
  return run ? historyOf(history, Number(run)) : history;
}

const isNarrowed = () => ["run", ...kHistoryKeys].some((key) => queryValue(key));

function chooseWorkload(workload: string): void {
  const query = apiParameters(["cluster", ...kMeasuringKeys, "days"]);
  if (workload) query.set("workload", workload);
  navigate(hrefOf("/history", query));
}

function Filters({ history }: { history: History | null }) {
  const ofAnswer = (history?.series ?? []).flatMap((one) => one.workload ?? []);
  // An answer about one workload names no other.
  useEffect(() => void askRunChoices(), []);
  return (
    <div class="filters">
      <label class="field">
        <span>changes</span>
        <select
          value={daysAsked()}
          onChange={({ currentTarget: { value } }) =>
            setQuery("days", value === kUsualDays ? "" : value)
          }
        >
          {[...kPeriods.keys()].map((days) => (
            <option key={days} value={days}>
              last {days} days
            </option>
          ))}
          <option value={kAnyTime}>any time</option>
        </select>
      </label>
      <WorkloadChoice
        chosen={queryValue("workload")}
        workloads={[...runChoices.value.workload, ...ofAnswer]}
        onChoose={chooseWorkload}
      />
      <ClusterChoice />
      <MeasuredOver label="window for all" />
      {isNarrowed() && <a href="/history">Show every configuration</a>}
    </div>
  );
}

type NameOf = (series: HistorySeries) => string;

function nameAmong({ series }: History): NameOf {
  const names = seriesNames(series);
  return (one) => names.get(one) ?? seriesName(one);
}

function Told({ history }: { history: History }) {
  const [shown, setShown] = useState(kSectionsAtOnce);
  const [sought, setSought] = useState("");
  useLayoutEffect(() => {
    const section = sought ? document.getElementById(sought) : null;
    if (!section) return;
    const look = () => section.scrollIntoView();
    look();
    // The plots above it take their own width, and so another height, in the next frame.
    const frame = requestAnimationFrame(() => requestAnimationFrame(look));
    return () => cancelAnimationFrame(frame);
  }, [sought]);
  const told = toldChanges(history);
  const nameOf = nameAmong(history);
  const repeated = history.series.filter(({ runs }) => runs.length > 1);
  const single = history.series.filter(({ runs }) => runs.length === 1);
  const changed = [...new Set(told.map(({ series }) => series))];
  const ordered = [...new Set([...changed, ...repeated])];
  if (isUnknownCluster(queryValue("cluster"))) return <UnknownCluster />;
  // Of the run that is asked for the panel says it, and has the way to count it.
  const run = queryValue("run");
  const entry = run ? leftOutEntry(history, Number(run)) : null;
  const others = sectionlessLeftOut(history).filter(({ id }) => id !== entry?.id);
  const leftOut = <LeftOutRuns runs={others} offered={entry ? [] : countableMarks(others)} />;
  if (history.series.length === 0) {
    return (
      <>
        <Nothing entry={entry} />
        {leftOut}
      </>
    );
  }
  // A link of the page leads to a section that may not be shown yet.
  const seek = (series: HistorySeries) => {
    setShown(Math.max(shown, ordered.indexOf(series) + 1));
    setSought(sectionId(series));
  };
  return (
    <>
      {entry && <Nothing entry={entry} />}
      <Changes history={history} told={told} nameOf={nameOf} onSeek={seek} />
      {ordered.slice(0, shown).map((series) => (
        <HistorySection key={sectionId(series)} series={series} name={nameOf(series)} />
      ))}
      {ordered.length > shown && (
        <p class="more">
          <button type="button" onClick={() => setShown(shown + kSectionsAtOnce)}>
            Show more
          </button>
          <span>
            {shown} of {formatPlural(ordered.length, "configuration")} shown
          </span>
        </p>
      )}
      <Single series={single} nameOf={nameOf} />
      {leftOut}
      <OlderRuns count={history.older_runs_left_out} />
      <p class="window-note">
        Unfinished and failed runs are left out, and those with a mark (profiled, traced, proxy …).{" "}
        {history.method}
      </p>
    </>
  );
}

// Why a run is in no history.
function WhyLeftOut({ entry }: { entry: HistoryLeftOut }) {
  const included = queryValue("include");
  const known = included ? included.split(",") : [];
  const marks = countableMarks([entry]).filter((mark) => !known.includes(mark));
  return (
    <>
      <p>{entry.reason.replace(/\.?$/, ".")}</p>
      {marks.length > 0 ? (
        <p>
          <button type="button" onClick={() => setQuery("include", [...known, ...marks].join(","))}>
            Count those that are {marks.map(markWord).join(", ")}
          </button>
        </p>
      ) : (
        <LaunchAgain />
      )}
    </>
  );
}

// As far as the run itself says: the answer has no word of it.
function WhyUnknown({ id }: { id: number }) {
  const answer = useAnswer(
    `run ${id}`,
    (abort) => fetchRun(id, abort),
    () => true,
  );
  const run = answer.isOld ? null : answer.value.value;
  if (!run) return <p>Only complete runs count, and none that has a mark, such as profiled.</p>;
  const reasons = leftOutReasons(run);
  return (
    <>
      <p>{reasons.join(" ") || "It does not say what it trained, or on what."}</p>
      <LaunchAgain />
    </>
  );
}

function LaunchAgain() {
  return (
    <p>
      Launch the same recipe again, once a week or after each change of the cluster; its runs appear
      here by themselves. <code>llmb-report submit … -r 2</code> launches two.
    </p>
  );
}

// `entry`: of the run that is asked for.
function Nothing({ entry }: { entry: HistoryLeftOut | null }) {
  const run = queryValue("run");
  return (
    <HintPanel title={run ? `Run ${run} is in no history` : "No history yet"}>
      {entry ? (
        <WhyLeftOut entry={entry} />
      ) : run ? (
        <WhyUnknown id={Number(run)} />
      ) : (
        <>
          <p>
            A configuration has a history once a run of it is complete. From eight runs on the page
            tells whether the newest are slower.
          </p>
          <LaunchAgain />
        </>
      )}
      <p>
        {isNarrowed() && (
          <>
            <a href="/history">Show every configuration</a>,{" "}
          </>
        )}
        <a href="/runs">see all runs</a>
      </p>
    </HintPanel>
  );
}

interface ChangesProps {
  history: History;
  told: ToldChange[];
  nameOf: NameOf;
  onSeek: (series: HistorySeries) => void;
}

function Changes({ history, told, nameOf, onSeek }: ChangesProps) {
  const days = kPeriods.get(daysAsked()) ?? null;
  const within = told.filter((one) => isWithin(one, days, nowMs.value));
  const earlier = told.find((one) => !within.includes(one));
  const windows = otherWindowsWords(history);
  return (
    <section class="history-told" aria-labelledby="changes-title">
      <h2 id="changes-title">{summaryWords(history, within, days)}</h2>
      {windows && <p class="window-note">{windows}</p>}
      {within.length > 0 && (
        <ul class="findings">
          {within.map((one) => (
            <Change
              key={`${sectionId(one.series)} ${one.key}`}
              told={one}
              name={nameOf(one.series)}
              onSeek={onSeek}
            />
          ))}
        </ul>
      )}
      {within.length === 0 && earlier && (
        <>
          <p>The latest change before that:</p>
          <ul class="findings">
            <Change told={earlier} name={nameOf(earlier.series)} onSeek={onSeek} />
          </ul>
        </>
      )}
      {earlier && (
        <p>
          <button type="button" onClick={() => setQuery("days", kAnyTime)}>
            Show changes of any time
          </button>
        </p>
      )}
    </section>
  );
}

interface ChangeProps extends Pick<ChangesProps, "onSeek"> {
  told: ToldChange;
  name: string;
}

function Change({ told, name, onSeek }: ChangeProps) {
  const { series, verdict, startedAt } = told;
  return (
    <li>
      <a href={`#${sectionId(series)}`} onClick={() => onSeek(series)}>
        {name}
      </a>
      :{" "}
      <b class={`told told-${verdict}`}>{told.amount}</b>
      {told.levels}
      {startedAt && (
        <>
          {told.levels ? ", " : " "}
          since <Instant at={startedAt} />
        </>
      )}
      . {told.cause}
    </li>
  );
}

function Single({ series, nameOf }: { series: HistorySeries[]; nameOf: NameOf }) {
  if (series.length === 0) return null;
  return (
    <details class="twin single-runs">
      <summary>{formatPlural(series.length, "configuration")} with one run each</summary>
      <ul class="findings">
        {series.map((one) => (
          <li key={sectionId(one)}>
            <a href={measuredRunHref(one.runs[0]?.id ?? 0)}>{nameOf(one)}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}
