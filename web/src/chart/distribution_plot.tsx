// The step times of each run's window as dots beside each other, with their quartiles and median, as
// SVG on one axis. Where the pointer is, a line says how many steps of each run take no longer. The
// table below it is its twin for those who do not see it.
import { useRef, useState } from "preact/hooks";
import {
  formatCount,
  formatNumber,
  formatPercent,
  formatPlural,
  formatSeconds,
  formatTicks,
} from "../format";
import { PlotCopies } from "../parts/plot_copies";
import { Table } from "../parts/table";
import {
  distributionRange,
  offScaleCount,
  shareWithin,
  spreadOf,
  type Distribution,
} from "./distributions";
import { valueTicks } from "./history_points";
import { useMeasuredWidth } from "./measured_width";
import { Clipped, partOf, shareIn, ShowAll, useZoom, ZoomableSvg, type PlotArea } from "./plot_zoom";
import { isOffScale, type Range } from "./scale";
import { seriesColour } from "./series";

const kRow = 50; // a line for its name above the dots
const kSpread = 20; // of the dots of a row, px
const kTop = 10;
const kBottom = 28;
const kEdge = 14;
const kTickWidth = 80; // of a label and the space around it

interface Props {
  distributions: Distribution[]; // the colour of each is that of its place
  summary: string;
}

export function DistributionPlot({ distributions, summary }: Props) {
  const { figure, width } = useMeasuredWidth();
  const svg = useRef<SVGSVGElement>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const zoom = useZoom();
  const range = distributionRange(distributions);
  const shown = partOf(range, zoom.shown);
  const height = kTop + kRow * distributions.length + kBottom;
  const axisY = height - kBottom;
  const area = { width, height, left: kEdge, right: width - kEdge, top: kTop, bottom: axisY };
  const span = area.right - area.left;
  const x = (value: number) => {
    const onAxis = Math.min(Math.max(value, range.min), range.max);
    return kEdge + span * shareIn(shown, onAxis);
  };
  const ticks = valueTicks(shown, Math.max(4, Math.floor(span / kTickWidth)));
  const labels = formatTicks(ticks);
  const follow = (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect();
    if (!box) return;
    const place = (((event.clientX - box.left) / box.width) * width - kEdge) / span;
    setCursor(place >= 0 && place <= 1 ? shown.min + place * (shown.max - shown.min) : null);
  };
  return (
    <figure class="plot-card distribution-plot" ref={figure}>
      <figcaption>
        Step time over the window, s
        <span class="readout" aria-hidden="true">
          {cursor !== null && `within ${formatSeconds(cursor)}`}
        </span>
        <ShowAll zoom={zoom} />
      </figcaption>
      <ZoomableSvg
        zoom={zoom}
        area={area}
        summary={summary}
        svg={svg}
        onPointerMove={follow}
        onPointerLeave={() => setCursor(null)}
      >
        {ticks.map((tick, at) => (
          <g key={tick}>
            <line class="grid" x1={x(tick)} x2={x(tick)} y1={kTop} y2={axisY} />
            <text class="tick" x={x(tick)} y={height - 8} text-anchor="middle">
              {labels[at]}
            </text>
          </g>
        ))}
        {distributions.map((one, at) => (
          <Row
            key={one.id}
            one={one}
            top={kTop + kRow * at}
            colour={`var(${seriesColour(at)})`}
            x={x}
            area={area}
            range={range}
            share={cursor === null || one.values.length === 0 ? null : shareWithin(one, cursor)}
          />
        ))}
        {cursor !== null && (
          <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1={kTop} y2={axisY} />
        )}
      </ZoomableSvg>
      <Twin distributions={distributions} range={range} />
      <PlotCopies
        of="distributions of the step times"
        name="step-time-distributions"
        table={() => ({
          heads: ["run", "steps", ...kFigures.map(({ head }) => `${head}, s`)],
          rows: distributions.map((one) => [
            `run ${one.id}: ${one.name}`,
            String(one.values.length),
            ...kFigures.map(({ share }) => exportedSeconds(one.quantile(share))),
          ]),
        })}
        pictures={() => (svg.current ? [svg.current] : [])}
      />
    </figure>
  );
}

interface RowProps {
  one: Distribution;
  top: number;
  colour: string;
  x: (value: number) => number;
  area: PlotArea;
  range: Range; // of the whole axis
  share: number | null; // of its steps at the pointer or before it
}

function Row({ one, top, colour, x, area, range, share }: RowProps) {
  const y = top + kRow - kSpread / 2 - 6;
  const half = kSpread / 2 + 1;
  const [lower, median, upper] = [one.quantile(0.25), one.quantile(0.5), one.quantile(0.75)];
  return (
    <g stroke={colour} fill={colour}>
      <text class="row-name" x={kEdge} y={top + 13}>
        {one.values.length === 0 ? `${one.name}: no step in its window` : one.name}
        {share !== null && `: ${formatPercent(share, 0)} of its steps`}
      </text>
      {one.values.length > 0 && (
        <Clipped area={area}>
          <rect
            class="quartiles"
            x={x(lower)}
            y={y - half}
            width={Math.max(1, x(upper) - x(lower))}
            height={2 * half}
          />
          {one.values.map((value, at) => (
            <circle
              key={at}
              class={isOffScale(value, range) ? "dot is-off-scale" : "dot"}
              cx={x(value)}
              cy={y + kSpread * spreadOf(at)}
              r="2.6"
            />
          ))}
          <line class="median" x1={x(median)} x2={x(median)} y1={y - half} y2={y + half} />
        </Clipped>
      )}
    </g>
  );
}

const kFigures: { head: string; share: number }[] = [
  { head: "min", share: 0 },
  { head: "lower quartile", share: 0.25 },
  { head: "median", share: 0.5 },
  { head: "upper quartile", share: 0.75 },
  { head: "p95", share: 0.95 },
  { head: "max", share: 1 },
];

const exportedSeconds = (value: number) => (Number.isNaN(value) ? "" : String(value));

interface TwinProps {
  distributions: Distribution[];
  range: Range;
}

function Twin({ distributions, range }: TwinProps) {
  const beyond = distributions.reduce((sum, one) => sum + offScaleCount(one, range), 0);
  return (
    <details class="twin">
      <summary>
        As a table
        {beyond > 0 && `; the rings at its ends are ${formatPlural(beyond, "step")} beyond the axis`}
      </summary>
      <Table
        name="Step times over the window"
        heads={["run", "#steps", ...kFigures.map(({ head }) => `#${head}, s`)]}
        rows={distributions.map((one) => [
          one.name,
          formatCount(one.values.length),
          ...kFigures.map(({ share }) => formatNumber(one.quantile(share))),
        ])}
      />
    </details>
  );
}
