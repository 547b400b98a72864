// "/runs/ID": one run, from its status in words down to the line that ended it.
import { useEffect, useMemo } from "preact/hooks";
import { live } from "../api/live";
import { BackToRuns } from "../parts/back_to_runs";
import { kAllRuns, Loading, ProblemPanel } from "../parts/panels";
import { UnknownKeys } from "../parts/unknown_keys";
import { runName } from "../parts/values";
import { measuredOver } from "../state/measuring";
import { usePageTitle } from "../state/page_title";
import { RunPageStore } from "../state/run_page";
import { RunAgreementSection } from "./run_agreement";
import { RunCharts } from "./run_charts";
import { RunConfiguration } from "./run_configuration";
import { RunEvents } from "./run_events";
import { RunEvidence } from "./run_evidence";
import { RunFailure } from "./run_failure";
import { RunHeader } from "./run_header";
import { RunLogSection } from "./run_log";
import { RunOutlook } from "./run_outlook";
import { RunWindow } from "./run_window";

export function RunPage({ id }: { id: number }) {
  const store = useMemo(() => new RunPageStore(id), [id]);
  const over = measuredOver().toString();
  useEffect(() => {
    const unlisten = live.listen(store);
    void store.load(over);
    return () => {
      unlisten();
      store.stop();
    };
  }, [store]);
  useEffect(() => void store.measureOver(over), [store, over]);
  const run = store.run.value;
  usePageTitle(run ? runName(run) : "Run");

  const steps = store.steps.value;
  const problem = store.problem.value;
  return (
    <>
      <BackToRuns />
      <UnknownKeys />
      {problem && !run && (
        <div class="page-head">
          <h1>Run {id}</h1>
        </div>
      )}
      {problem && (
        <ProblemPanel problem={problem} retry={() => void store.refresh()} elsewhere={kAllRuns} />
      )}
      {!run && !problem && <Loading what="the run" />}
      {run && (
        <>
          <RunHeader run={run} />
          {run.failure && <RunFailure run={run} failure={run.failure} />}
          {steps && <RunOutlook run={run} steps={steps} />}
          {run.step_count > 0 && (
            <RunWindow
              run={run}
              statistics={store.statistics.value}
              metrics={store.metrics.value}
              problem={store.figuresProblem.value}
              isOld={store.areFiguresOld.value}
            />
          )}
          {steps && (
            <RunCharts
              run={run}
              steps={steps}
              statistics={store.statistics.value}
              insight={store.insight.value}
              checkpoints={store.checkpoints.value}
            />
          )}
          <RunEvents run={run} />
          <RunEvidence run={run} checkpoints={store.checkpoints.value} />
          {run.step_count > 0 && <RunAgreementSection id={run.id} over={over} />}
          <RunLogSection run={run} />
          <RunConfiguration run={run} />
        </>
      )}
    </>
  );
}
