// The step times of one configuration's runs over time, as SVG: a dot for each run, a line for each
// level, and a numbered mark where a level begins. As wide as its place, so that its text stays as
// large as the page's. The table below it is its twin for those who do not see it.
import type { HistorySeries } from "../api/types";
import { formatInstant, formatSeconds, formatTicks, type Zone } from "../format";
import { historyPlot, startTicks, valueTicks, within, type HistoryMark } from "./history_points";
import { useMeasuredWidth } from "./measured_width";
import { useOwnPoint } from "./nearest_point";
import { shareIn, ShowAll, useZoom, ZoomableSvg } from "./plot_zoom";
import { ValueGrid } from "./value_grid";

const kHeight = 240;
const kLeft = 58;
const kRight = 44; // half of the last label
const kTop = 34; // holds the marks
const kBottom = 28;
const kTimeTickWidth = 130; // of a label and the space around it
const kValueTicks = 6;

interface Props {
  series: HistorySeries;
  zone: Zone;
  summary: string;
}

export function HistoryPlot({ series, zone, summary }: Props) {
  const { figure, width } = useMeasuredWidth();
  const zoom = useZoom();
  const all = historyPlot(series);
  const plot = all && within(all, zoom.shown);
  const x = (place: number) => kLeft + (width - kLeft - kRight) * shareIn(zoom.shown, place);
  const { at, follow } = useOwnPoint(width, plot?.points.map(({ place }) => x(place)) ?? []);
  if (!plot) return null;
  const { min, max } = plot.range;
  const pointed = at === null ? null : plot.points[at];
  const y = (value: number) =>
    kHeight - kBottom - (kHeight - kTop - kBottom) * ((value - min) / (max - min));
  const ticks = valueTicks(plot.range, kValueTicks);
  const labels = formatTicks(ticks);
  const area = {
    width,
    height: kHeight,
    left: kLeft,
    right: width - kRight,
    top: kTop,
    bottom: kHeight - kBottom,
  };
  const timeCount = Math.max(2, Math.floor((width - kLeft) / kTimeTickWidth));
  return (
    <figure class="plot-card history-plot" ref={figure}>
      <figcaption>
        Median step time, s{plot.isInTime ? "" : ", in the order of the runs"}
        <span class="readout" aria-hidden="true">
          {pointed && runWords(pointed.run, zone)}
        </span>
        <ShowAll zoom={zoom} />
      </figcaption>
      <ZoomableSvg zoom={zoom} area={area} summary={summary} {...follow}>
        <ValueGrid ticks={ticks} labels={labels} left={kLeft} right={width - kRight} y={y} />
        {plot.isInTime &&
          startTicks(series.runs, timeCount, zone, zoom.shown).map(({ place, label }) => (
            <g key={place}>
              <line class="grid" x1={x(place)} x2={x(place)} y1={kTop} y2={kHeight - kBottom} />
              <text class="tick" x={x(place)} y={kHeight - 8} text-anchor="middle">
                {label}
              </text>
            </g>
          ))}
        {pointed && (
          <line
            class="cursor"
            x1={x(pointed.place)}
            x2={x(pointed.place)}
            y1={kTop}
            y2={kHeight - kBottom}
          />
        )}
        {plot.levels.map(({ from, to, value, endValue }, level) => (
          <line key={level} class="level" x1={x(from)} x2={x(to)} y1={y(value)} y2={y(endValue)} />
        ))}
        {plot.marks.map((mark) => (
          <Mark key={mark.number} mark={mark} x={x(mark.place)} />
        ))}
        {plot.points.map(({ run, place, value, isOffScale }) => (
          <circle
            key={run.id}
            class={isOffScale ? "point is-off-scale" : "point"}
            cx={x(place)}
            cy={y(value)}
            r="4"
          >
            <title>{runWords(run, zone)}</title>
          </circle>
        ))}
      </ZoomableSvg>
    </figure>
  );
}

function runWords(run: HistorySeries["runs"][number], zone: Zone): string {
  const started = formatInstant(run.launched_at, zone);
  return `run ${run.id}, ${started}: median step ${formatSeconds(run.step_time_s_median)}`;
}

// An arrow up for slower, as the step time goes; its number leads to the sentence.
function Mark({ mark, x }: { mark: HistoryMark; x: number }) {
  const isSlower = mark.verdict === "slower";
  const [foot, tip] = isSlower ? [26, 15] : [15, 26];
  return (
    <g class={`change change-${mark.verdict}`}>
      <line class="change-line" x1={x} x2={x} y1={28} y2={kHeight - kBottom} />
      <path class="change-arrow" d={`M${x - 6} ${foot} ${x} ${tip} ${x + 6} ${foot}Z`} />
      <text class="change-number" x={x} y={11} text-anchor="middle">
        {mark.number}
      </text>
    </g>
  );
}
