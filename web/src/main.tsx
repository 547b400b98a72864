// Where the page begins: routing, the live stream, and the page that the URL names.
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/filters.css";
import "./styles/runs.css";
import "./styles/run.css";
import "./styles/results.css";
import "./styles/history.css";
import "./styles/failures.css";
import "./styles/evidence.css";
import "./styles/pages.css";
import "./styles/stacked.css";
import "./styles/print.css";
import { render } from "preact";
import { startLive } from "./api/live";
import { Frame } from "./parts/frame";
import { BoardPage } from "./pages/board_page";
import { ComparePage } from "./pages/compare_page";
import { FailuresPage } from "./pages/failures_page";
import { HealthPage } from "./pages/health_page";
import { HistoryPage } from "./pages/history_page";
import { JobPage } from "./pages/job_page";
import { JobsPage } from "./pages/jobs_page";
import { ReferencesPage } from "./pages/references_page";
import { RunPage } from "./pages/run_page";
import { RunsPage } from "./pages/runs_page";
import { ScalingPage } from "./pages/scaling_page";
import { UnknownPage } from "./pages/unknown_page";
import { pageOf, place, startRouting } from "./state/location";
import { startPaper } from "./state/paper";
import { startService } from "./state/service";

function App() {
  const page = pageOf(place.value.path);
  return (
    <Frame>
      {page.name === "runs" && <RunsPage />}
      {page.name === "run" && <RunPage key={page.id} id={page.id} />}
      {page.name === "board" && <BoardPage />}
      {page.name === "references" && <ReferencesPage />}
      {page.name === "jobs" && <JobsPage />}
      {page.name === "job" && <JobPage key={page.id} id={page.id} />}
      {page.name === "health" && <HealthPage />}
      {page.name === "compare" && <ComparePage />}
      {page.name === "scaling" && <ScalingPage />}
      {page.name === "history" && <HistoryPage />}
      {page.name === "failures" && <FailuresPage />}
      {page.name === "unknown" && <UnknownPage />}
    </Frame>
  );
}

startPaper();
startRouting();
startService();
startLive();
const root = document.getElementById("app");
if (root) render(<App />, root);
