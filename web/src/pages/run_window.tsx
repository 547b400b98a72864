// The window and what the run amounts to inside it.
import type { Problem } from "../api/client";
import type { RunDetails, RunStatistics, WindowStatistics } from "../api/types";
import {
  formatCount,
  formatMeanDeviation,
  formatNumber,
  formatPlural,
  formatSeconds,
} from "../format";
import { WindowForm } from "../parts/window_form";

interface Props {
  run: RunDetails;
  chosen: string; // from the URL; empty: the run's own
  statistics: RunStatistics | null;
  problem: Problem | null;
  onChoose: (window: string) => void;
}

export function RunWindow({ run, chosen, statistics, problem, onChoose }: Props) {
  return (
    <section class="numbers" aria-labelledby="numbers-title">
      <div class="section-head">
        <h2 id="numbers-title">Over the window</h2>
        <WindowForm label="window" chosen={chosen} usual={run.window} onChoose={onChoose} />
      </div>
      {problem && (
        <p class="field-problem" role="alert">
          {problem.title}: {problem.detail}
        </p>
      )}
      {statistics && (
        <>
          <div class="headline">
            <Figure
              name="Step time"
              value={formatMeanDeviation(
                statistics.step_time_s?.mean,
                statistics.step_time_s?.stddev_sample,
                "s",
              )}
            />
            <Figure
              name="TFLOPS per GPU"
              value={formatMeanDeviation(
                statistics.tflops_per_gpu?.mean,
                statistics.tflops_per_gpu?.stddev_sample,
              )}
            />
          </div>
          <p class="window-note">
            {windowNote(statistics)} {sentence(statistics.window_numbering)}
          </p>
          <StatisticsTable statistics={statistics} />
        </>
      )}
    </section>
  );
}

function windowNote(statistics: RunStatistics): string {
  const name = `Window ${statistics.window}`;
  if (statistics.window_is_whole) return `${name} is whole.`;
  if (!statistics.step_time_s && !statistics.tflops_per_gpu) return `${name} holds no step yet.`;
  const missing = statistics.iterations_missing_in_window;
  return `${name} lacks ${formatPlural(missing, "iteration")}: the figures are of the rest.`;
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <p class="figure">
      <span class="figure-name">{name}</span>
      <span class="figure-value">{value}</span>
      <span class="figure-note">mean ± sample standard deviation</span>
    </p>
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
                  {values ? format(values[key]) : "–"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
