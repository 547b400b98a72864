// The run's log itself, around the byte that was asked for: as many lines as the reader wants before
// and after it.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { RunDetails } from "../api/types";
import { formatBytes, formatCount } from "../format";
import { Loading, ProblemPanel } from "../parts/panels";
import { saveFile } from "../parts/pictures";
import {
  closeLog,
  kLogSectionId,
  logPlace,
  lookAtLog,
  returnFromLog,
  takeFocusWish,
  timesAsked,
} from "../state/log_place";
import { RunLogStore } from "../state/run_log";
import { chooseWrapping, wrapsLines } from "../state/wrapping";
import { RunLogDownload } from "./run_log_download";
import { RunLogSearch } from "./run_log_search";

export function RunLogSection({ run }: { run: RunDetails }) {
  const place = logPlace();
  const isOpen = place !== null;
  const start = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen) returnFromLog(start.current);
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <section id={kLogSectionId} class="run-log" aria-labelledby="run-log-title">
      <div class="section-head">
        <h2 id="run-log-title">The log</h2>
        <span class="log-ways no-print">
          {isOpen && (
            <label class="switch">
              <input
                type="checkbox"
                checked={wrapsLines.value}
                onChange={(event) => chooseWrapping(event.currentTarget.checked)}
              />
              wrap lines
            </label>
          )}
          <button type="button" class="quiet" ref={start} onClick={() => lookAtLog(0)}>
            Start
          </button>
          <button type="button" class="quiet" onClick={() => lookAtLog("end")}>
            End
          </button>
          {isOpen && (
            <button type="button" class="quiet" onClick={closeLog}>
              Close
            </button>
          )}
          <RunLogDownload id={run.id} />
        </span>
      </div>
      <RunLogSearch key={run.id} runId={run.id} sizeBytes={run.size_bytes} />
      {place === null ? (
        <p class="sub no-print">
          {formatBytes(run.size_bytes)}. Click an iteration, an event or a point of a chart to read
          the lines around it.
        </p>
      ) : (
        <Lines key={run.id} run={run} at={place} asked={timesAsked.value} />
      )}
    </section>
  );
}

const kChosenId = "log-chosen";
const kNearBottomPx = 24; // about a line

export function isAtBottom(box: HTMLElement | null): boolean {
  return !box || box.scrollHeight - box.scrollTop - box.clientHeight < kNearBottomPx;
}

interface LinesProps {
  run: RunDetails;
  at: number | "end";
  asked: number; // counts up when the place is asked for again
}

function Lines({ run, at, asked }: LinesProps) {
  const store = useMemo(() => new RunLogStore(run.id), [run.id]);
  const box = useRef<HTMLDivElement>(null);
  const hasScrolledAway = useRef(false); // from the end: the reader, while lines are on their way
  useEffect(() => {
    void store.lookAt(at);
    return () => store.stop();
  }, [store, at, asked]);
  const { lines, chosen, sizeBytes, followsEnd } = store.shown.value;
  const isLoading = store.isLoading.value;
  useEffect(() => {
    void store.follow(run.size_bytes, isAtBottom(box.current));
  }, [store, run.size_bytes, isLoading]);
  useLayoutEffect(() => {
    if (followsEnd && !hasScrolledAway.current && box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [lines]);
  useEffect(() => {
    box.current?.querySelector(".is-chosen")?.scrollIntoView({ block: "nearest" });
  }, [chosen, wrapsLines.value]);
  useEffect(() => {
    if (!store.isLoading.peek() && box.current && takeFocusWish()) {
      box.current.focus({ preventScroll: true });
    }
  }, [asked, isLoading]);
  const problem = store.problem.value;
  if (problem) return <ProblemPanel problem={problem} retry={() => void store.lookAt(at)} />;
  if (lines.length === 0) {
    return isLoading ? <Loading what="the log" /> : <p class="nothing">It is empty.</p>;
  }
  return (
    <>
      <div
        class={wrapsLines.value ? "log-lines is-wrapped" : "log-lines"}
        ref={box}
        onScroll={() => (hasScrolledAway.current = !isAtBottom(box.current))}
        tabIndex={0}
        role="region"
        aria-label="Lines of the log"
        aria-describedby={lines.some(({ offset }) => offset === chosen) ? kChosenId : undefined}
      >
        {store.hasEarlier.value && (
          <button type="button" class="quiet" onClick={() => void store.showEarlier()}>
            Earlier lines
          </button>
        )}
        <ol>
          {lines.map((line) => (
            <li
              key={line.offset}
              class={line.offset === chosen ? "is-chosen" : undefined}
              {...(line.offset === chosen ? { "aria-current": "true" } : {})}
            >
              <span class="log-offset" aria-hidden="true">
                {formatCount(line.offset)}
              </span>
              <code id={line.offset === chosen ? kChosenId : undefined}>
                {line.text}
                {line.is_cut && " …"}
              </code>
            </li>
          ))}
        </ol>
        {store.hasLater.value && (
          <button type="button" class="quiet" onClick={() => void store.showLater()}>
            Later lines
          </button>
        )}
      </div>
      <p class="sub">
        Bytes {formatCount(lines[0]?.offset)} to {formatCount(store.nextOffset.value)} of{" "}
        {formatCount(sizeBytes)}. Colours are left out; what is no text stands as \xNN.{" "}
        <button
          type="button"
          class="log-link no-print"
          onClick={() => {
            saveFile(new Blob(lines.map(({ text }) => `${text}\n`)), `run-${run.id}.log`);
          }}
        >
          Save these lines
        </button>
      </p>
    </>
  );
}
