// "/runs/ID": one run, from its status in words down to the line that ended it.
import { useEffect, useMemo } from "preact/hooks";
import { live } from "../api/live";
import type { RunDetails, RunStatistics, Steps, WindowStatistics } from "../api/types";
import { isOffScale } from "../chart/scale";
import { allValues, chartSeries, hasValues } from "../chart/series";
import { StepChart } from "../chart/step_chart";
import { plotRange } from "../chart/step_plot";
import { formatMeanDeviation, formatNumber, formatPlural, formatSeconds } from "../format";
import { Loading, ProblemPanel } from "../parts/panels";
import { runName } from "../parts/values";
import { hrefOf, navigate, place } from "../state/location";
import { RunPageStore } from "../state/run_page";
import { parseWindow, type IterationWindow } from "../state/window";
import { RunAgreementSection } from "./run_agreement";
import { RunConfiguration } from "./run_configuration";
import { RunEvents } from "./run_events";
import { RunHeader } from "./run_header";
import { StepTable } from "./step_table";
import { RunWindow } from "./run_window";

export function RunPage({ id }: { id: number }) {
  const store = useMemo(() => new RunPageStore(id), [id]);
  const chosen = place.value.query.get("window") ?? "";
  useEffect(() => {
    const unlisten = live.listen(store);
    void store.load(chosen);
    return () => {
      unlisten();
      store.stop();
    };
  }, [store]);
  useEffect(() => void store.setWindow(chosen), [store, chosen]);
  const run = store.run.value;
  useEffect(() => {
    document.title = run ? `${runName(run)} · llmb-report` : "Run · llmb-report";
  }, [run && runName(run)]);

  const steps = store.steps.value;
  const problem = store.problem.value;
  return (
    <>
      <p class="back">
        <a href="/">← Runs</a>
      </p>
      {problem && <ProblemPanel problem={problem} retry={() => void store.refresh()} />}
      {!run && !problem && <Loading what="the run" />}
      {run && (
        <>
          <RunHeader run={run} />
          <RunWindow
            run={run}
            chosen={chosen}
            statistics={store.statistics.value}
            problem={store.windowProblem.value}
            onChoose={(window) => {
              const query = new URLSearchParams(place.value.query);
              if (window) query.set("window", window);
              else query.delete("window");
              navigate(hrefOf(place.value.path, query), { replace: true });
            }}
          />
          {steps && <Charts run={run} steps={steps} statistics={store.statistics.value} />}
          <RunEvents run={run} />
          {run.step_count > 0 && <RunAgreementSection id={run.id} window={chosen} />}
          <RunConfiguration run={run} />
        </>
      )}
    </>
  );
}

interface ChartsProps {
  run: RunDetails;
  steps: Steps;
  statistics: RunStatistics | null;
}

function Charts({ run, steps, statistics }: ChartsProps) {
  const showsAll = place.value.query.get("scale") === "all";
  const segment = statistics?.segment ?? run.segment;
  const windowText = statistics?.window ?? run.window;
  const window = useMemo(() => parseWindow(windowText), [windowText]);
  const time = useMemo(() => chartSeries(steps, "step_time_s", segment), [steps, segment]);
  const flops = useMemo(() => chartSeries(steps, "tflops_per_gpu", segment), [steps, segment]);
  if (steps.iteration.length === 0) {
    return <p class="nothing">The log holds no step yet.</p>;
  }
  const toggle = () => {
    const query = new URLSearchParams(place.value.query);
    if (showsAll) query.delete("scale");
    else query.set("scale", "all");
    navigate(hrefOf(place.value.path, query), { replace: true });
  };
  const input = { series: time, window, mean: null, colorName: "" };
  const steady = plotRange({ ...input, showsAll: false });
  const hidden = allValues(time).filter((value) => isOffScale(value, steady)).length;
  return (
    <section class="charts" aria-labelledby="charts-title">
      <div class="section-head">
        <h2 id="charts-title">Steps</h2>
        {(hidden > 0 || showsAll) && (
          <label class="switch">
            <input type="checkbox" checked={showsAll} onChange={toggle} />
            show warm-up and outliers
          </label>
        )}
      </div>
      <StepChart
        title="Step time"
        unit="s"
        series={time}
        window={window}
        mean={statistics?.step_time_s?.mean ?? null}
        showsAll={showsAll}
        colorName="--chart-time"
        formatValue={formatSeconds}
        summary={summarize("Step time in seconds", steps, window, statistics?.step_time_s)}
      />
      {hasValues(flops) && (
        <StepChart
          title="TFLOPS per GPU"
          unit="as logged"
          series={flops}
          window={window}
          mean={statistics?.tflops_per_gpu?.mean ?? null}
          showsAll={showsAll}
          colorName="--chart-flops"
          formatValue={formatNumber}
          summary={summarize("TFLOPS per GPU", steps, window, statistics?.tflops_per_gpu)}
        />
      )}
      <p class="legend">
        <span>
          <i class="swatch-band" aria-hidden="true" /> window {windowText}
        </span>
        <span>
          <i class="swatch-mean" aria-hidden="true" /> its mean
        </span>
        <span>Drag to zoom, double-click to see everything.</span>
      </p>
      <StepTable steps={steps} window={window} segment={segment} />
    </section>
  );
}

function summarize(
  what: string,
  steps: Steps,
  window: IterationWindow | null,
  statistics: WindowStatistics | null | undefined,
): string {
  const count = formatPlural(steps.iteration.length, "step");
  if (!window || !statistics) return `${what} of ${count}. The table below lists them.`;
  const mean = formatMeanDeviation(statistics.mean, statistics.stddev_sample);
  return (
    `${what} of ${count}; mean ${mean} over iterations ${window.first} to ${window.last}. ` +
    "The table below lists them."
  );
}
