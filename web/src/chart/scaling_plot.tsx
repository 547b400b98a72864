// One plot of a scaling series, as SVG: measured points with a line and intervals, published ones
// as hollow squares, and the value that every scale would reach without loss. Crosshair and zoom are
// those of the plots beside it. The table below is its twin for those who do not see it.
import { formatTicks as plainTicks, formatCount } from "../format";
import { useMeasuredWidth } from "./measured_width";
import { useNearestPoint } from "./nearest_point";
import { Clipped, isShown, shareIn, ShowAll, ZoomableSvg, type Zoom } from "./plot_zoom";
import { placeOf, type PlotPoint, type ScalingPlotData } from "./scaling_points";
import { ValueGrid } from "./value_grid";

const kHeight = 260;
const kLeft = 64;
const kRight = 18;
const kTop = 14;
const kBottom = 40;
const kTicks = 4;
const kLabelWidth = 46; // of a number of GPUs and the space around it

interface Props {
  title: string;
  plot: ScalingPlotData;
  axis: readonly number[]; // the scales of all plots that are linked, rising
  zoom: Zoom;
  format: (value: number) => string;
  formatTicks?: (ticks: readonly number[]) => string[];
  colour: "time" | "flops";
  summary: string;
  pointed: number | null; // the number of GPUs under the pointer, here or in a plot beside it
  onPoint: (gpus: number | null) => void;
}

export function ScalingPlot(props: Props) {
  const { title, plot, axis, zoom, format, formatTicks = plainTicks, colour, summary } = props;
  const { figure, width } = useMeasuredWidth();
  const area = {
    width,
    height: kHeight,
    left: kLeft,
    right: width - kRight,
    top: kTop,
    bottom: kHeight - kBottom,
  };
  const x = (gpus: number) =>
    kLeft + (area.right - kLeft) * shareIn(zoom.shown, placeOf(gpus, axis));
  const isIn = ({ gpus }: { gpus: number }) => isShown(zoom.shown, placeOf(gpus, axis));
  const scales = plot.gpus.filter((gpus) => isIn({ gpus }));
  const follow = useNearestPoint(width, scales.map(x), (at) =>
    props.onPoint(at === null ? null : (scales[at] ?? null)),
  );
  const pointed = props.pointed !== null && scales.includes(props.pointed) ? props.pointed : null;
  const labelled = scales.reduce<number[]>((shown, gpus) => {
    const last = shown[shown.length - 1];
    return last === undefined || x(gpus) - x(last) >= kLabelWidth ? [...shown, gpus] : shown;
  }, []);
  const share = (value: number) => (value - plot.bottom) / (plot.top - plot.bottom);
  const y = (value: number) => kHeight - kBottom - (kHeight - kTop - kBottom) * share(value);
  const path = plot.measured.map(({ gpus, value }) => `${x(gpus)},${y(value)}`).join(" ");
  const ticks = Array.from(
    { length: kTicks + 1 },
    (_, at) => plot.bottom + ((plot.top - plot.bottom) * at) / kTicks,
  );
  const labels = formatTicks(ticks);
  return (
    <figure class={`plot-card scaling-plot colour-${colour}`} ref={figure}>
      <figcaption>
        {title}
        <span class="readout" aria-hidden="true">
          {pointed !== null && pointWords(plot, pointed, format)}
        </span>
        <ShowAll zoom={zoom} />
      </figcaption>
      <ZoomableSvg zoom={zoom} area={area} summary={summary} {...follow}>
        <ValueGrid ticks={ticks} labels={labels} left={kLeft} right={width - kRight} y={y} />
        {labelled.map((gpus) => (
          <text key={gpus} class="tick" x={x(gpus)} y={kHeight - kBottom + 18} text-anchor="middle">
            {formatCount(gpus)}
          </text>
        ))}
        <text class="tick" x={(kLeft + width) / 2} y={kHeight - 4} text-anchor="middle">
          GPUs
        </text>
        {pointed !== null && (
          <line
            class="cursor"
            x1={x(pointed)}
            x2={x(pointed)}
            y1={kTop}
            y2={kHeight - kBottom}
          />
        )}
        {plot.ideal !== null && (
          <line
            class="ideal"
            x1={kLeft}
            x2={width - kRight}
            y1={y(plot.ideal)}
            y2={y(plot.ideal)}
          />
        )}
        {plot.published.filter(isIn).map((point) => (
          <rect
            key={point.gpus}
            class="published"
            x={x(point.gpus) - 4}
            y={y(point.value) - 4}
            width="8"
            height="8"
          />
        ))}
        {plot.measured.length > 1 && (
          <Clipped area={area}>
            <polyline class="line" points={path} />
          </Clipped>
        )}
        {plot.measured.filter(isIn).map((point, at) => (
          <Measured
            key={at}
            point={point}
            x={x(point.gpus)}
            y={y}
            bottom={plot.bottom}
            format={format}
          />
        ))}
      </ZoomableSvg>
    </figure>
  );
}

// "256 GPUs: 3,116, published 3,136"
function pointWords(
  plot: ScalingPlotData,
  gpus: number,
  format: (value: number) => string,
): string {
  const at = (points: PlotPoint[]) => points.filter((point) => point.gpus === gpus);
  const measured = at(plot.measured).map(({ value }) => format(value));
  const published = at(plot.published).map(({ value }) => `published ${format(value)}`);
  return `${formatCount(gpus)} GPUs: ${[...measured, ...published].join(", ")}`;
}

interface MeasuredProps {
  point: PlotPoint;
  x: number;
  y: (value: number) => number;
  bottom: number; // of the axis
  format: (value: number) => string;
}

function Measured({ point, x, y, bottom, format }: MeasuredProps) {
  const { low, high } = point;
  return (
    <g>
      {low !== null && high !== null && (
        <path
          class="interval"
          d={`M${x - 4} ${y(high)}h8M${x} ${y(high)}V${y(Math.max(bottom, low))}m-4 0h8`}
        />
      )}
      <circle class="point" cx={x} cy={y(point.value)} r="4">
        <title>{`${formatCount(point.gpus)} GPUs: ${format(point.value)}`}</title>
      </circle>
    </g>
  );
}
