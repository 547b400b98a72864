// What each tool reports for one run, as a dot on one axis beside our mean with the deviation of its
// steps. The table below it is its twin for those who do not see it.
import { useRef, useState } from "preact/hooks";
import { formatNumber, formatSeconds, formatTicks } from "../format";
import { PlotCopies } from "../parts/plot_copies";
import { valueTicks } from "./history_points";
import { kPanZoomHint } from "./pan_zoom";
import { Clipped, partOf, ShowAll, useZoom, ZoomableSvg } from "./plot_zoom";
import type { Range } from "./scale";

export interface AgreementDot {
  name: string;
  value: number;
}

interface Props {
  ours: { mean: number; deviation: number | null };
  dots: AgreementDot[];
  summary: string;
}

const kWidth = 760;
const kLeft = 270;
const kRight = 24;
const kRow = 22;
const kTop = 10;
const kBottom = 34;
const kTicks = 4;
const kPadding = 0.08; // of what is spanned, on either side
const kSpanMin = 0.004; // of the mean: equal results stand on one line, not on a magnified axis

function rangeOf({ ours, dots }: Props): Range {
  const deviation = ours.deviation ?? 0;
  const values = [ours.mean - deviation, ours.mean + deviation, ...dots.map(({ value }) => value)];
  const low = Math.min(...values);
  const high = Math.max(...values);
  const span = Math.max(high - low, kSpanMin * ours.mean);
  const middle = (low + high) / 2;
  const half = span * (0.5 + kPadding);
  return { min: middle - half, max: middle + half };
}

export function AgreementPlot(props: Props) {
  const { ours, dots, summary } = props;
  const figure = useRef<HTMLElement>(null);
  const zoom = useZoom();
  const range = partOf(rangeOf(props), zoom.shown);
  const { min, max } = range;
  const x = (value: number) => kLeft + ((kWidth - kLeft - kRight) * (value - min)) / (max - min);
  const isIn = (value: number) => value >= min && value <= max;
  const height = kTop + kRow * (dots.length + 1) + kBottom;
  const rowY = (at: number) => kTop + kRow * (at + 0.5);
  const axisY = height - kBottom;
  const area = {
    width: kWidth,
    height,
    left: kLeft,
    right: kWidth - kRight,
    top: kTop,
    bottom: axisY,
  };
  const ticks = valueTicks(range, kTicks);
  const labels = formatTicks(ticks);
  // The row under the pointer: 0 is ours.
  const [row, setRow] = useState<number | null>(null);
  const follow = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const y = ((event.clientY - box.top) / box.height) * height - kTop;
    setRow(y >= 0 && y < kRow * (dots.length + 1) ? Math.floor(y / kRow) : null);
  };
  const rows = [{ name: "llmb-report", value: ours.mean }, ...dots];
  const pointed = row === null ? null : rows[row];
  return (
    <figure class="agreement-plot" ref={figure}>
      <p class="zoom-head">
        <span class="readout" aria-hidden="true">
          {pointed && `${pointed.name}: ${formatSeconds(pointed.value)}`}
        </span>
        <ShowAll zoom={zoom} />
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Plot of the tools' results">
        <ZoomableSvg
          zoom={zoom}
          area={area}
          summary={summary}
          onPointerMove={follow}
          onPointerLeave={() => setRow(null)}
        >
          {ticks.map((tick, at) => (
            <g key={tick}>
              <line class="grid" x1={x(tick)} x2={x(tick)} y1={kTop} y2={axisY} />
              <text class="tick" x={x(tick)} y={axisY + 16} text-anchor="middle">
                {labels[at]}
              </text>
            </g>
          ))}
          {rows.map(({ name }, at) => (
            <text key={name} class="row-name" x={kLeft - 10} y={rowY(at) + 4} text-anchor="end">
              {name}
            </text>
          ))}
          <Clipped area={area}>
            {pointed && (
              <line
                class="cursor"
                x1={x(pointed.value)}
                x2={x(pointed.value)}
                y1={kTop}
                y2={axisY}
              />
            )}
            <line class="ours-line" x1={x(ours.mean)} x2={x(ours.mean)} y1={kTop} y2={axisY} />
            {ours.deviation !== null && (
              <line
                class="ours-spread"
                x1={x(ours.mean - ours.deviation)}
                x2={x(ours.mean + ours.deviation)}
                y1={rowY(0)}
                y2={rowY(0)}
              />
            )}
          </Clipped>
          {isIn(ours.mean) && <circle class="ours" cx={x(ours.mean)} cy={rowY(0)} r="5" />}
          {dots.map(
            ({ name, value }, at) =>
              isIn(value) && (
                <path
                  key={name}
                  class="other"
                  d={`M${x(value)} ${rowY(at + 1) - 5}l5 5l-5 5l-5 -5z`}
                  aria-hidden="true"
                >
                  <title>{`${name}: ${formatNumber(value)} s`}</title>
                </path>
              ),
          )}
          <text class="tick" x={(kLeft + kWidth) / 2} y={height - 2} text-anchor="middle">
            mean step time, s; the bar is our ± one standard deviation of the steps
          </text>
        </ZoomableSvg>
      </div>
      <p class="legend no-print">{kPanZoomHint}.</p>
      <PlotCopies
        of="agreement with other tools"
        name="agreement"
        table={() => ({
          heads: ["tool", "mean step time, s"],
          rows: [
            ["llmb-report", String(ours.mean)],
            ...dots.map(({ name, value }) => [name, String(value)]),
          ],
        })}
        pictures={() => figure.current?.querySelectorAll<SVGSVGElement>("svg") ?? []}
      />
    </figure>
  );
}
