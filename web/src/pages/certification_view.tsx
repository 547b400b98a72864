// The board as a certification has it: each workload at its scale, until when it is certified, and
// the commands that are still to be run.
import { formatCount, formatNumber, formatPlural, kUnknown } from "../format";
import { CellShape } from "../parts/cell_shape";
import { ChoiceField } from "../parts/choice_field";
import { ClusterChoice } from "../parts/cluster_choice";
import { CopyButton, CopyTable } from "../parts/copy_buttons";
import { Table } from "../parts/table";
import { Day } from "../parts/values";
import { documentOf, type BoardRow } from "../state/board";
import {
  certifications,
  certificationTable,
  kCertificationWords,
  kCertifiedMonths,
  kCertifiedRuns,
  kCertifiedScale,
  suiteCommands,
  suiteName,
  suites,
  type Certification,
  type SuiteStanding,
} from "../state/certification";
import { queryValue, setQuery } from "../state/page_query";
import { nowMs } from "../state/service";
import { kAim } from "../state/standing";
import { zone } from "../state/zone";
import { RunLinks, SinceMark } from "./board_cell";

interface Props {
  rows: BoardRow[];
  launchedAt: Map<number, string>;
}

export function CertificationView({ rows, launchedAt }: Props) {
  const gpuType = queryValue("gpu_type");
  const all = suites(certifications(rows, launchedAt, nowMs.value, zone.value));
  const shown = all.filter((suite) => !gpuType || suite.gpuType === gpuType);
  return (
    <>
      <p class="lead">
        A cluster is certified for a GPU type by every workload at {formatCount(kCertifiedScale)}{" "}
        GPUs, or at the most that is published below: {kCertifiedRuns} complete runs, of which one
        may be profiled, none older than {kCertifiedMonths} months, that meet the aim: at least{" "}
        {kAim} × the published speed, with 95 % confidence. The runs that count are those of the
        environment (release, framework …) that was measured last; where these have become
        slower or faster since the first of them, that is said.
      </p>
      <div class="filters">
        <ChoiceField
          label="GPU type"
          none="any"
          chosen={gpuType}
          values={[...new Set(all.map((suite) => suite.gpuType))]}
          onChoose={(value) => setQuery("gpu_type", value)}
        />
        <ClusterChoice />
        <CopyTable table={() => certificationTable(shown, zone.value)} />
      </div>
      {shown.map((suite) => (
        <Suite key={suiteName(suite)} suite={suite} />
      ))}
    </>
  );
}

function Suite({ suite }: { suite: SuiteStanding }) {
  const { of, validUntil } = suite;
  const name = suiteName(suite);
  const commands = suiteCommands(suite);
  return (
    <section class="suite" aria-label={`Certification of ${name}`}>
      <div class="section-head">
        <h2>{name}</h2>
        <span class="count">
          {validUntil ? (
            <>
              certified, valid until <Day at={validUntil} />
            </>
          ) : (
            countWords(suite)
          )}
        </span>
      </div>
      <Table
        name={`Certification of ${name}`}
        heads={["workload", "state", "valid until", "#GPUs", "#lower bound of the speed", "runs"]}
        rows={of.map((one) => [
          <>
            {one.name}
            <span class="sub">{documentOf(one.cell.reference)}</span>
          </>,
          <State one={one} />,
          one.validUntil ? <Day at={one.validUntil} /> : notYet(one, "not yet"),
          formatCount(one.cell.reference.gpu_count),
          one.cell.standing ? `${formatNumber(one.cell.standing.speed_low)} ×` : notYet(one, "none yet"),
          <RunLinks
            ids={[...one.cell.runs, ...one.cell.profiled]}
            count={one.cell.runCount + one.cell.profiledCount}
            reasons={one.cell.otherReasons}
          />,
        ])}
      />
      {commands && (
        <details class="twin">
          <summary>
            {formatPlural(commands.split("\n").length, "command")} that would complete it
          </summary>
          <p class="command-head">
            <CopyButton label="Copy the commands" text={() => commands} />
          </p>
          <pre class="command" tabIndex={0}>
            {commands}
          </pre>
        </details>
      )}
    </section>
  );
}

const notYet = ({ state }: Certification, words: string) =>
  state === "unjudged" ? kUnknown : words;

// "2 of 14 workloads certified, 8 cannot be judged here"
function countWords({ of, certifiedCount, unjudgedCount }: SuiteStanding): string {
  const certified = `${certifiedCount} of ${formatPlural(of.length, "workload")} certified`;
  return unjudgedCount > 0 ? `${certified}, ${unjudgedCount} cannot be judged here` : certified;
}

// What is open looks as its cell of the board does, but for one that lacks nothing but runs.
function shapeOf({ state, cell }: Certification): string {
  if (state === "certified") return "met";
  if (state === "expired") return "stale";
  return cell.state === "met" ? "undecided" : cell.state;
}

function State({ one }: { one: Certification }) {
  const shape = shapeOf(one);
  return (
    <div class={`suite-state cell-${shape}`}>
      <p class="cell-word">
        <CellShape state={shape} /> {kCertificationWords[one.state]}
        <SinceMark cell={one.cell} />
      </p>
      <p class="sub">{one.words}</p>
    </div>
  );
}
