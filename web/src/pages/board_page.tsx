// "/": is the cluster good? Every published result, and whether the runs of its configuration meet
// the aim, a share of its speed; each cell opens its runs and says the command that would fill or
// decide it.
import { useId, useMemo, useRef } from "preact/hooks";
import {
  formatCount,
  formatDay,
  formatNumber,
  formatPlural,
  formatWorkload,
} from "../format";
import { boardBadge, boardPicture, type BoardScope } from "../chart/board_picture";
import type { HistorySeries } from "../api/types";
import { CellShape } from "../parts/cell_shape";
import { ChoiceField } from "../parts/choice_field";
import { ClusterChoice } from "../parts/cluster_choice";
import { CopyTable } from "../parts/copy_buttons";
import { saveFile, savePng } from "../parts/pictures";
import { OlderRuns } from "../parts/older_runs";
import { HintPanel, kAllRuns } from "../parts/panels";
import { Answered, Pending } from "../parts/pending";
import { Sentences } from "../parts/sentences";
import { UnknownKeys } from "../parts/unknown_keys";
import { UnknownCluster } from "../parts/unknown_value";
import { useAnswer } from "../state/answer";
import {
  boardRows,
  boardTable,
  hasRuns,
  otherwiseOf,
  overview,
  unpublished,
  type BoardCell,
  type BoardRow,
  type ClusterAnswer,
} from "../state/board";
import { askBoard, askHistory, type BoardAnswers } from "../state/board_clusters";
import { isUnknownCluster } from "../state/clusters";
import { hrefOf, place } from "../state/location";
import { apiParameters, queryValue, setQuery } from "../state/page_query";
import { usePageTitle } from "../state/page_title";
import { nowMs, service } from "../state/service";
import { placesIn } from "../state/since_then";
import { kCellStates, kStateMeanings, kStateWords, type CellState } from "../state/standing";
import { zone } from "../state/zone";
import { OpenCell, SinceMark } from "./board_cell";
import { CertificationView } from "./certification_view";

const kStaleDays = 90;
const kNoHistories: readonly HistorySeries[] = [];

function newestAt(cell: BoardCell, launchedAt: Map<number, string>): string | null {
  const known = cell.runs.map((id) => launchedAt.get(id)).filter((at) => at !== undefined);
  return known.sort().at(-1) ?? null;
}

export function BoardPage() {
  usePageTitle(isCertification() ? "Certification" : "Board");
  const cluster = queryValue("cluster");
  const answer = useAnswer(
    `board ${cluster}`,
    (abort) => askBoard(cluster, abort),
    () => true,
  );
  const answers = answer.value.value;
  const history = useAnswer(
    `history ${cluster}`,
    (abort) => askHistory(cluster, abort),
    (_, kind) => kind !== "grown" && "later", // it is long, and a run that grows is not in it
  );
  return (
    <>
      <div class="page-head">
        <h1>Board</h1>
        <p class="count">
          every published result, and {clusterWords(answer.isOld ? null : answers)} against it
        </p>
        <Views />
      </div>
      <UnknownKeys />
      <Pending answer={answer} what="the board" elsewhere={kAllRuns} />
      {answers && history.problem.value && (
        <Pending answer={history} what="how these runs moved" elsewhere={kAllRuns} />
      )}
      {!answers && answer.problem.value && (
        <div class="filters">
          <ClusterChoice />
        </div>
      )}
      {answers && (
        <Answered isOld={answer.isOld}>
          <View answers={{ ...answers, histories: history.value.value?.series ?? kNoHistories }} />
        </Answered>
      )}
    </>
  );
}

// An empty list while the history is on its way.
interface Shown extends BoardAnswers {
  histories: readonly HistorySeries[];
}

function View({ answers }: { answers: Shown }) {
  if (isUnknownCluster(queryValue("cluster"))) return <UnknownCluster />;
  if (answers.answers.length === 0) return <ChooseOne count={answers.clusters.length} />;
  return isCertification() ? <Certified answers={answers} /> : <Board answers={answers} />;
}

function ChooseOne({ count }: { count: number }) {
  return (
    <HintPanel title={`${formatPlural(count, "cluster")}: choose one`}>
      <p>Each has a board of its own; so many are not shown together.</p>
      <div class="filters">
        <ClusterChoice />
      </div>
    </HintPanel>
  );
}

function clusterWords(answers: BoardAnswers | null): string {
  if (answers && answers.answers.length !== 1) {
    const count = answers.clusters.length;
    const which = count > 1 ? `each of ${formatPlural(count, "cluster")}` : "each cluster";
    return `how ${which} stands`;
  }
  const name = answers?.answers[0]?.cluster ?? null;
  return name === null ? "how this cluster stands" : `how cluster ${name} stands`;
}

// A server that takes pushed runs has seen no file.
const isEmpty = ({ scaling }: ClusterAnswer) =>
  scaling.series.length + scaling.unplaced_groups.length === 0;

function useRows({ references, answers, histories }: Shown): BoardRow[] {
  return useMemo(() => {
    const places = placesIn(histories);
    return answers.flatMap((answer) => boardRows(references, answer, zone.value, places));
  }, [references, answers, histories, zone.value]);
}

const isCertification = () => queryValue("view") === "certification";

// Two ways to look at the same answers.
function Views() {
  const view = (name: string) => {
    const query = new URLSearchParams(place.value.query);
    query.delete("view");
    if (name) query.set("view", name);
    return hrefOf("/", query);
  };
  return (
    <nav class="views no-print" aria-label="Views of the board">
      <a href={view("")} aria-current={isCertification() ? undefined : "page"}>
        Results
      </a>
      <a href={view("certification")} aria-current={isCertification() ? "page" : undefined}>
        Certification
      </a>
    </nav>
  );
}

function Certified({ answers }: { answers: Shown }) {
  return <CertificationView rows={useRows(answers)} launchedAt={answers.launchedAt} />;
}

function Board({ answers }: { answers: Shown }) {
  const { launchedAt } = answers;
  const ofEach = useRows(answers); // every result of every cluster
  const rows = useMemo(() => overview(ofEach), [ofEach]);
  const isStale = (cell: BoardCell) => {
    const at = newestAt(cell, launchedAt);
    return at !== null && nowMs.value - Date.parse(at) > kStaleDays * 86_400_000;
  };
  const state = queryValue("state");
  const workload = queryValue("workload");
  const gpuType = queryValue("gpu_type");
  const isInScope = (row: BoardRow) =>
    (!workload || row.workload === formatWorkload(workload)) &&
    (!gpuType || row.gpuType === gpuType);
  const inScope = rows.filter(isInScope);
  const matches = (cell: BoardCell) =>
    !state || (state === "stale" ? isStale(cell) : isCounted(cell, state));
  const shown = inScope
    .map((row) => ({ ...row, cells: row.cells.filter(matches) }))
    .filter((row) => row.cells.length > 0);
  const measuredFirst = [...shown].sort((a, b) => orderOf(a) - orderOf(b));
  const all = inScope.flatMap((row) => row.cells);
  return (
    <>
      <StateCounts cells={all} staleCount={all.filter(isStale).length} chosen={state} />
      <div class="filters">
        <Filter
          name="workload"
          label="workload"
          values={rows.map((row) => row.workload)}
          word={formatWorkload}
        />
        <Filter name="gpu_type" label="GPU type" values={rows.map((row) => row.gpuType)} />
        <ClusterChoice />
        <CopyTable table={() => boardTable(measuredFirst, isStale)} />
        <Pictures rows={measuredFirst} ofEach={ofEach.filter(isInScope)} {...{ isStale, answers }} />
      </div>
      {service.value?.files_seen === 0 && answers.answers.every(isEmpty) && (
        <HintPanel title="Nothing is measured yet">
          <p>
            No log was found so far. Launch a recipe, or take a cell's command from below; its
            result appears here by itself.
          </p>
        </HintPanel>
      )}
      {shown.length === 0 && (
        <HintPanel title="No published result matches">
          <a href={hrefOf("/", apiParameters(["cluster"]))}>Show every result</a>
        </HintPanel>
      )}
      <ul class="board">
        {measuredFirst.map((row) => (
          <Row
            key={`${row.name} ${row.gpuType} ${row.cluster}`}
            row={row}
            isStale={isStale}
            launchedAt={launchedAt}
          />
        ))}
      </ul>
      <OlderRuns count={answers.olderRuns} />
      <Unpublished names={unpublished(answers.answers, { workload, gpuType })} />
    </>
  );
}

interface PicturesProps {
  rows: BoardRow[]; // as shown
  ofEach: BoardRow[]; // in any state
  isStale: (cell: BoardCell) => boolean;
  answers: BoardAnswers;
}

function Pictures({ rows, ofEach, isStale, answers: { clusters, answers } }: PicturesProps) {
  const state = queryValue("state");
  const workload = queryValue("workload");
  const chosen = [workload && formatWorkload(workload), queryValue("gpu_type")].filter(Boolean);
  const scope = (): BoardScope => ({
    chosen,
    cluster: answers.length === 1 && clusters.length === 1 ? (clusters[0] ?? null) : null,
    madeOn: formatDay(new Date(nowMs.value).toISOString(), zone.value),
    server: location.host,
  });
  const picture = () => {
    const ofState = state ? [`only ${kStateWords[state as CellState] ?? state}`] : [];
    return boardPicture(rows, isStale, { ...scope(), chosen: [...chosen, ...ofState] });
  };
  const saveBadge = () => {
    const badge = boardBadge(ofEach, isStale, scope());
    saveFile(new Blob([badge], { type: "image/svg+xml" }), "badge.svg");
  };
  return (
    <span class="copies no-print">
      <button
        type="button"
        class="quiet copy"
        onClick={() => void savePng([picture()], "board")}
      >
        Save as PNG
      </button>
      <button type="button" class="quiet copy" onClick={saveBadge}>
        Save a badge
      </button>
    </span>
  );
}

// A run under way is told beside what those before it made of the cell.
const isCounted = (cell: BoardCell, state: string) =>
  state === "running" ? cell.isRunning : cell.state === state;

function Unpublished({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <section aria-labelledby="unpublished-title">
      <div class="section-head">
        <h2 id="unpublished-title">Measured, with no published result to stand against</h2>
      </div>
      <Sentences sentences={names} look="findings" />
      <p class="hint">
        <a href="/scaling">Scaling</a> has their figures.
      </p>
    </section>
  );
}

// What runs can be held against stands before what they cannot.
function orderOf(row: BoardRow): number {
  if (hasRuns(row)) return 0;
  return row.cells.some(({ state }) => state === "missing") ? 1 : 2;
}

interface StateCountsProps {
  cells: BoardCell[];
  staleCount: number;
  chosen: string;
}

function StateCounts({ cells, staleCount, chosen }: StateCountsProps) {
  const counts = kCellStates.map((state) => ({
    state: state as string,
    word: kStateWords[state],
    count: cells.filter((cell) => isCounted(cell, state)).length,
    meaning: kStateMeanings[state],
  }));
  counts.push({
    state: "stale",
    word: "stale",
    count: staleCount,
    meaning: `measured, the newest run over ${kStaleDays} days ago`,
  });
  return (
    <ul class="state-counts" aria-label="How many published results there are of each state">
      {counts.map(({ state, word, count, meaning }) => (
        <li key={state} class={count === 0 && chosen !== state ? "is-of-none" : undefined}>
          <button
            type="button"
            class={`state-count cell-${state}`}
            aria-pressed={chosen === state}
            title={meaning}
            onClick={() => setQuery("state", chosen === state ? "" : state)}
          >
            <span>
              <b>{formatCount(count)}</b> <CellShape state={state} /> {word}
            </span>
            <span class="meaning">{meaning}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface FilterProps {
  name: string;
  label: string;
  values: string[];
  word?: (value: string) => string;
}

function Filter({ name, label, values, word }: FilterProps) {
  return (
    <ChoiceField
      label={label}
      none="any"
      chosen={queryValue(name)}
      values={values}
      {...(word ? { word } : {})}
      onChoose={(value) => setQuery(name, value)}
    />
  );
}

// What is told of a cell beside its state.
function BesideMark({ state }: { state: "running" | "stale" }) {
  return (
    <span class={`beside-mark cell-${state}`} title={state}>
      <CellShape state={state} />
      <span class="visually-hidden">, {state}</span>
    </span>
  );
}

interface RowProps {
  row: BoardRow;
  isStale: (cell: BoardCell) => boolean;
  launchedAt: Map<number, string>;
}

function Row({ row, isStale, launchedAt }: RowProps) {
  const open = queryValue("cell");
  const idOf = ({ reference: { gpu_count, is_proxy } }: BoardCell) =>
    [row.name, row.gpuType, gpu_count, is_proxy && "proxy", row.cluster]
      .filter(Boolean)
      .join("/")
      .replaceAll(" ", "-");
  const opened = row.cells.find((cell) => idOf(cell) === open);
  const item = useRef<HTMLLIElement>(null);
  const titleId = useId();
  const close = () => {
    item.current?.querySelector<HTMLElement>('.cell[aria-expanded="true"]')?.focus();
    setQuery("cell", "");
  };
  return (
    <li class="board-row" ref={item}>
      <div class="board-name">
        <h2 id={titleId}>
          <b>{row.name}</b> {row.gpuType}
          {row.cluster !== null && <>, {row.cluster}</>}
        </h2>
        <span class="sub">{row.documents.join(", ")}</span>
      </div>
      <ul class="cells" aria-labelledby={titleId}>
        {row.cells.map((cell) => (
          <li key={idOf(cell)}>
            <button
              type="button"
              class={`cell cell-${cell.state}${isStale(cell) ? " is-stale" : ""}`}
              aria-expanded={cell === opened}
              title={row.cluster === null ? cell.words : `${row.cluster}: ${cell.words}`}
              onClick={() => setQuery("cell", cell === opened ? "" : idOf(cell))}
            >
              {/* Read alone, as a list of all buttons is, a cell says of what it is. */}
              <span class="visually-hidden">{row.name}, </span>
              <span class="cell-gpus">{formatCount(cell.reference.gpu_count)} GPUs</span>
              <span class="visually-hidden"> {row.gpuType}, </span>
              <span class="cell-word">
                <CellShape state={cell.state} /> {kStateWords[cell.state]}
              </span>
              <span class="beside-marks">
                {cell.isRunning && cell.state !== "running" && <BesideMark state="running" />}
                {isStale(cell) && <BesideMark state="stale" />}
              </span>
              <span class="cell-speed">
                {cell.standing ? `${formatNumber(cell.standing.speed)} ×` : " "}
                {cell.reference.is_proxy && <span class="cell-kind"> proxy</span>}
              </span>
              <SinceMark cell={cell} />
              {otherwiseOf(cell) && <span class="cell-kind">earlier: {otherwiseOf(cell)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {opened && (
        <OpenCell
          cell={opened}
          cluster={row.cluster}
          newest={newestAt(opened, launchedAt)}
          onClose={close}
        />
      )}
    </li>
  );
}
