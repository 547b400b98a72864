// Where the page begins: routing, the live stream, and the page that the URL names.
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/runs.css";
import "./styles/run.css";
import "./styles/results.css";
import { render } from "preact";
import { startLive } from "./api/live";
import { Frame } from "./parts/frame";
import { HintPanel } from "./parts/panels";
import { ComparePage } from "./pages/compare_page";
import { RunPage } from "./pages/run_page";
import { RunsPage } from "./pages/runs_page";
import { ScalingPage } from "./pages/scaling_page";
import { pageOf, place, startRouting } from "./state/location";
import { startService } from "./state/service";

function App() {
  const page = pageOf(place.value.path);
  return (
    <Frame>
      {page.name === "runs" && <RunsPage />}
      {page.name === "run" && <RunPage key={page.id} id={page.id} />}
      {page.name === "compare" && <ComparePage />}
      {page.name === "scaling" && <ScalingPage />}
      {page.name === "unknown" && (
        <HintPanel title="There is no such page">
          <p>
            <a href="/">See all runs</a>
          </p>
        </HintPanel>
      )}
    </Frame>
  );
}

startRouting();
startService();
startLive();
const root = document.getElementById("app");
if (root) render(<App />, root);
