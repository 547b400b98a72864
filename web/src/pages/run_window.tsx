// The window and what the run amounts to inside it.
import type { Problem } from "../api/client";
import type { RunDetails, RunMetrics, RunStatistics, WindowStatistics } from "../api/types";
import {
  formatCount,
  formatMeanDeviation,
  formatNumber,
  formatPercent,
  formatSeconds,
  formatSpeed,
  kUnknown,
} from "../format";
import { otherMfu } from "../mfu_words";
import { Figure } from "../parts/figure";
import { MeasuredOver } from "../parts/measured_over";
import { Loading } from "../parts/panels";
import { Answered, LoadingAnew } from "../parts/pending";
import { isAllLeftOut, noTflopsWords, windowWords } from "../window_words";

interface Props {
  run: RunDetails;
  statistics: RunStatistics | null;
  metrics: RunMetrics | null;
  problem: Problem | null;
  isOld: boolean; // the figures are of the choice before
}

export function RunWindow(props: Props) {
  const { run, statistics, metrics, problem, isOld } = props;
  return (
    <section class="numbers" aria-labelledby="numbers-title">
      <div class="section-head">
        <h2 id="numbers-title">Over the window</h2>
        <MeasuredOver label="window" usual={run.window} />
      </div>
      {isOld && <LoadingAnew what="the figures" />}
      {!statistics && !problem && <Loading what="the figures" />}
      {problem && !isOld && (
        <p class="field-problem" role="alert">
          {problem.title}: {problem.detail}
        </p>
      )}
      {statistics && (
        <Answered isOld={isOld}>
          <Headline statistics={statistics} metrics={metrics} />
          <p class="window-note">
            {windowWords(statistics, run.status === "running")}{" "}
            {sentence(statistics.window_numbering)}
          </p>
          <StatisticsTable statistics={statistics} />
        </Answered>
      )}
    </section>
  );
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

// One step has no deviation.
function deviationOf(statistics: WindowStatistics | null): number | null {
  return statistics && statistics.count > 1 ? statistics.stddev_sample : null;
}

function noteOn(statistics: WindowStatistics | null): string {
  return statistics?.count === 1 ? "of one step" : "mean ± sample standard deviation of the steps";
}

interface HeadlineProps {
  statistics: RunStatistics;
  metrics: RunMetrics | null;
}

function Headline({ statistics, metrics }: HeadlineProps) {
  const { step_time_s: time, tflops_per_gpu: flops } = statistics;
  const derived = metrics?.metrics;
  return (
    <div class="headline">
      <Figure
        name="Step time"
        value={formatMeanDeviation(time?.mean, deviationOf(time), "s")}
        note={!isAllLeftOut(statistics) && noteOn(time)}
      />
      <Figure
        name="TFLOPS per GPU"
        value={formatMeanDeviation(flops?.mean, deviationOf(flops))}
        note={flops ? `${noteOn(flops)}, as logged` : noTflopsWords(statistics)}
      />
      {derived && metrics && (
        <>
          <Figure
            name="MFU"
            value={formatPercent(derived.mfu.value)}
            note={otherMfu(derived)}
            metric={derived.mfu}
          />
          <Figure
            name="Tokens/s"
            value={formatCount(derived.tokens_per_s.value)}
            note={
              derived.tokens_per_s_per_gpu.value !== null &&
              `${formatNumber(derived.tokens_per_s_per_gpu.value)} a GPU`
            }
            metric={derived.tokens_per_s}
          />
          {derived.energy_j_per_token.value !== null && (
            <Figure
              name="Energy of a token"
              value={`${formatNumber(derived.energy_j_per_token.value)} J`}
              note="of the GPUs, as the log prints it"
              metric={derived.energy_j_per_token}
            />
          )}
          <Figure
            name={`Days to train ${tokensText(metrics.tokens)} tokens`}
            value={formatNumber(derived.days_to_train.value)}
            metric={derived.days_to_train}
          />
          <Published metrics={metrics} />
        </>
      )}
    </div>
  );
}

function tokensText(tokens: number): string {
  return tokens >= 1e12 ? `${formatCount(tokens / 1e12)} T` : `${formatCount(tokens / 1e9)} B`;
}

function Published({ metrics }: { metrics: RunMetrics }) {
  const { reference, speed_against_reference: speed } = metrics;
  const note =
    speed === null || !reference
      ? metrics.reference_reason
      : `published: ${formatSeconds(reference.step_time_s)} in ` +
        `${reference.document ?? reference.source ?? reference.release}; ` +
        `${formatNumber(speed)} × its speed`;
  const match = metrics.recipe_match;
  return (
    <Figure
      name="Against published"
      value={speed === null ? kUnknown : formatSpeed(speed)}
      note={
        <>
          {note}
          {match.outcome !== "matched" && speed === null && !note?.includes(match.reason) && (
            <> {match.reason}</>
          )}
        </>
      }
    />
  );
}

type Statistic = Exclude<keyof WindowStatistics, "count">;

const kStatistics: [Statistic, string][] = [
  ["mean", "mean"],
  ["stddev_sample", "sd, sample"],
  ["stddev_population", "sd, population"],
  ["median", "median"],
  ["min", "min"],
  ["max", "max"],
  ["p95", "p95"],
];

// Nothing measured, or the deviation of one step: no number.
function formatted(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

function StatisticsTable({ statistics }: { statistics: RunStatistics }) {
  const rows: [string, WindowStatistics | null, (value: number) => string][] = [
    ["Step time", statistics.step_time_s, formatSeconds],
    ["TFLOPS per GPU", statistics.tflops_per_gpu, formatNumber],
  ];
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Statistics over the window">
      <table class="plain">
        <thead>
          <tr>
            <td />
            <th scope="col" class="number">
              steps
            </th>
            {kStatistics.map(([key, title]) => (
              <th key={key} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, values, format]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{formatCount(values?.count ?? 0)}</td>
              {kStatistics.map(([key]) => (
                <td key={key} class="number">
                  {formatted(values?.[key], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
