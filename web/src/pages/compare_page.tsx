// "/compare?runs=3,7" or "/compare?base=3&candidate=7": two to eight runs side by side, grouped by
// their configuration or as somebody named them: what each amounts to, whether the groups differ
// beyond run-to-run noise, and in what their configurations differ. One run alone stands against its
// published result.
import { useMemo } from "preact/hooks";
import { tellingWords } from "../alike_runs";
import { fetchComparison } from "../api/client";
import type { ComparedMetric as Metric, Comparison, GroupComparison } from "../api/types";
import { formatPercent, kUnknown } from "../format";
import { MeasuredOver } from "../parts/measured_over";
import { HintPanel, kAllRuns } from "../parts/panels";
import { Answered, Pending } from "../parts/pending";
import { Table } from "../parts/table";
import { breakable } from "../parts/values";
import { useAnswer } from "../state/answer";
import { kMeasuringKeys } from "../state/measuring";
import { apiParameters, queryValue } from "../state/page_query";
import { usePageTitle } from "../state/page_title";
import {
  decisionWords,
  intervalRange,
  intervalWords,
  moreRunsWords,
  startDriftWords,
  verdictWords,
} from "../verdict_words";
import { place } from "../state/location";
import {
  excessOf,
  excessWords,
  kPicksMax,
  kPicksMin,
  readPicks,
  strangerWords,
} from "../state/picks";
import { nameOfGroup, readSides, sidesComplaints, sidesParameters } from "../state/sides";
import { unknownKeyWords } from "../state/unknown_keys";
import { DecidingCommands } from "./compare_commands";
import { Differences } from "./compare_differences";
import { GroupMeans } from "./compare_means";
import { Obstacles, SingleRun } from "./compare_obstacles";
import { PublishedStandings } from "./compare_published";
import { ComparedRuns } from "./compare_runs";
import { ComparedSteps } from "./compare_steps";

const kMetrics: Metric[] = ["step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu"];

const kMetricNames: Record<Metric, string> = {
  step_time_s: "Step time, s",
  tokens_per_s_per_gpu: "Tokens/s/GPU",
  tflops_per_gpu: "TFLOPS/GPU",
};

export function ComparePage() {
  const sides = readSides(place.value.query);
  const picks = sides ? sides.flatMap(({ runs }) => runs) : readPicks(queryValue("runs"));
  const named = ["runs", "base", "candidate"].map(queryValue).join(",");
  const excess = sides ? "" : excessWords(excessOf(queryValue("runs")));
  const complaints = [
    strangerWords(named),
    excess,
    ...sidesComplaints(place.value.query),
    unknownKeyWords(place.value),
  ].filter(Boolean);
  usePageTitle("Compare");
  return (
    <>
      <p class="back">
        <a href={picks.length > 0 ? `/runs?pick=${picks.join(",")}` : "/runs"}>← Runs</a>
      </p>
      <div class="page-head">
        <h1>Compare</h1>
      </div>
      {complaints.length > 0 && (
        <section class="banner" role="alert">
          {complaints.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </section>
      )}
      {picks.length === 0 ? (
        <HintPanel title="Nothing to compare yet">
          <p>
            Pick {kPicksMin} to {kPicksMax} runs in the <a href="/runs">table of runs</a>.
          </p>
        </HintPanel>
      ) : (
        <Compared picks={picks} />
      )}
    </>
  );
}

function Compared({ picks }: { picks: number[] }) {
  const query = apiParameters(kMeasuringKeys);
  const sides = readSides(place.value.query);
  if (sides) {
    for (const [key, value] of sidesParameters(sides)) query.set(key, value);
  } else {
    query.set("runs", picks.join(","));
  }
  const answer = useAnswer(
    query.toString(),
    (abort) => fetchComparison(query, abort),
    (run) => picks.includes(run),
  );
  const comparison = answer.value.value;
  const telling = useMemo(() => tellingWords(comparison?.runs ?? []), [comparison]);
  return (
    <>
      <div class="filters">
        <MeasuredOver label="window for all" />
      </div>
      <Pending answer={answer} what="the comparison" elsewhere={kAllRuns} />
      {comparison && (
        <Answered isOld={answer.isOld}>
          <Obstacles comparison={comparison} />
          <SingleRun comparison={comparison} />
          <ComparedRuns comparison={comparison} />
          <GroupMeans comparison={comparison} />
          <Verdicts comparison={comparison} />
          <PublishedStandings comparison={comparison} />
          <ComparedSteps runs={comparison.runs} groups={comparison.groups} telling={telling} />
          <Differences comparison={comparison} />
          <p class="window-note">{comparison.method}</p>
        </Answered>
      )}
    </>
  );
}

function Verdicts({ comparison }: { comparison: Comparison }) {
  if (comparison.comparisons.length === 0) return null;
  return (
    <section aria-labelledby="verdicts-title">
      <div class="section-head">
        <h2 id="verdicts-title">Against group {nameOfGroup(0, comparison.groups)}</h2>
      </div>
      {comparison.comparisons.length > 1 && <ComparedGroups comparison={comparison} />}
      <ul class="verdicts">
        {comparison.comparisons.map((entry) => (
          <GroupVerdict key={entry.group} entry={entry} comparison={comparison} />
        ))}
      </ul>
    </section>
  );
}

// Of several groups at a glance: the step time of each, against the first.
function ComparedGroups({ comparison: { comparisons, groups } }: { comparison: Comparison }) {
  const metric = "step_time_s";
  return (
    <Table
      isStacked
      name="Step times of the groups"
      heads={["group", "its step time", "95 % interval", "#would show from", "#more runs of each"]}
      rows={comparisons.map(({ group, metrics: { [metric]: compared } }) => {
        const { smallest_visible_difference: visible, verdict } = compared;
        return [
          nameOfGroup(group, groups),
          <b class={`told told-${verdict}`}>{verdictWords(metric, compared)}</b>,
          intervalRange(metric, compared),
          visible === null ? kUnknown : formatPercent(visible, 2),
          moreRunsWords(compared),
        ];
      })}
    />
  );
}

interface GroupVerdictProps {
  entry: GroupComparison;
  comparison: Comparison;
}

function GroupVerdict({ entry, comparison }: GroupVerdictProps) {
  const group = comparison.groups.find((candidate) => candidate.group === entry.group);
  return (
    <li>
      <h3>
        Group {nameOfGroup(entry.group, comparison.groups)}
        {group && <span class="sub">{breakable(group.experiment)}</span>}
      </h3>
      <dl class="facts">
        {kMetrics.map((metric) => {
          const compared = entry.metrics[metric];
          const sentences = [intervalWords(metric, compared), decisionWords(compared)];
          const drift = startDriftWords(metric, compared);
          return (
            <div key={metric}>
              <dt>{kMetricNames[metric]}</dt>
              <dd>
                <b class={`told told-${compared.verdict}`}>{verdictWords(metric, compared)}</b>
                {sentences.filter(Boolean).map((sentence) => (
                  <span key={sentence} class="sub">
                    {sentence}
                  </span>
                ))}
                {drift && <span class="sub told-drift">{drift}</span>}
                <details class="formula">
                  <summary aria-label={`the test: ${kMetricNames[metric]}`}>the test</summary>
                  <p>{compared.text}</p>
                </details>
              </dd>
            </div>
          );
        })}
      </dl>
      <DecidingCommands entry={entry} comparison={comparison} />
    </li>
  );
}
