// How every SVG plot is zoomed along its x axis, as the charts of steps are: a drag shows that part
// alone, shift and a drag or the arrow keys move it, + and - zoom, and a double click, 0 or the
// button shows everything again. What is shown is a part of the axis in shares: 0 is its left end.
import type { ComponentChildren, Ref } from "preact";
import { useId, useState } from "preact/hooks";
import { PassingButton } from "../parts/passing_button";
import { moveOfKey, panned } from "./pan_zoom";
import type { Range } from "./scale";

export const kWhole: Range = { min: 0, max: 1 };
const kDragMin = 0.02; // of the plot; less is a click
const kShownMin = 0.005; // of the axis
const kRounding = 1e-9; // of sums of shares: an end stays an end

// What of `shown` lies between two places of the plot, as shares of its width.
export function zoomed(shown: Range, a: number, b: number): Range {
  const [low, high] = a < b ? [a, b] : [b, a];
  const width = shown.max - shown.min;
  if (high - low < kDragMin || (high - low) * width < kShownMin) return shown;
  return { min: shown.min + low * width, max: shown.min + high * width };
}

// Where a place stands in what is shown, as a share of the plot's width.
export function shareIn(shown: Range, place: number): number {
  return (place - shown.min) / (shown.max - shown.min);
}

export const isShown = ({ min, max }: Range, place: number) =>
  place >= min - kRounding && place <= max + kRounding;

// The part of a range of values that is shown.
export function partOf({ min, max }: Range, shown: Range): Range {
  return { min: min + shown.min * (max - min), max: min + shown.max * (max - min) };
}

export interface Zoom {
  shown: Range;
  // What the next keys make of it begins with what the last ones did, drawn or not.
  show: (part: Range | ((shown: Range) => Range)) => void;
}

// Plots that share one are linked.
export function useZoom(): Zoom {
  const [shown, show] = useState(kWhole);
  return { shown, show };
}

const isZoomed = ({ shown: { min, max } }: Zoom) => min > kWhole.min || max < kWhole.max;

// Where the axes of a plot lie, in units of its view box.
export interface PlotArea {
  width: number; // of the view box
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Drag {
  isMove: boolean; // of what is shown; else it chooses
  start: number; // shares of the plot's width
  end: number;
  shown: Range; // when it began
}

interface Props {
  zoom: Zoom;
  area: PlotArea;
  summary: string; // what a reader who cannot see the plot is told
  svg?: Ref<SVGSVGElement>;
  onPointerMove: (event: PointerEvent) => void;
  onPointerLeave: () => void;
  children: ComponentChildren;
}

export function ZoomableSvg({ zoom, area, summary, svg, children, ...follow }: Props) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const placeOf = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * area.width;
    return Math.min(1, Math.max(0, (x - area.left) / (area.right - area.left)));
  };
  const begin = (event: PointerEvent) => {
    if (event.button !== 0 || event.pointerType === "touch") return; // which scrolls the page
    (event.currentTarget as SVGSVGElement).setPointerCapture(event.pointerId);
    const start = placeOf(event);
    setDrag({ isMove: event.shiftKey, start, end: start, shown: zoom.shown });
  };
  const goOn = (event: PointerEvent) => {
    follow.onPointerMove(event);
    if (!drag) return;
    const end = placeOf(event);
    if (drag.isMove) zoom.show(panned(drag.shown, kWhole, drag.start - end));
    else setDrag({ ...drag, end });
  };
  const end = () => {
    if (drag && !drag.isMove) zoom.show(zoomed(zoom.shown, drag.start, drag.end));
    setDrag(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moveOfKey(event);
    if (move) zoom.show((shown) => move(shown, kWhole, kShownMin));
  };
  return (
    <svg
      ref={svg ?? null}
      class="zoomable"
      viewBox={`0 0 ${area.width} ${area.height}`}
      role="img"
      aria-label={summary}
      tabindex={0}
      onPointerDown={begin}
      onPointerMove={goOn}
      onPointerUp={end}
      onPointerLeave={follow.onPointerLeave}
      onDblClick={() => zoom.show(kWhole)}
      onKeyDown={onKeyDown}
    >
      {drag && !drag.isMove && <Dragged drag={drag} area={area} />}
      {children}
    </svg>
  );
}

function Dragged({ drag: { start, end }, area }: { drag: Drag; area: PlotArea }) {
  const width = area.right - area.left;
  return (
    <rect
      class="dragged"
      x={area.left + width * Math.min(start, end)}
      width={width * Math.abs(end - start)}
      y={area.top}
      height={area.bottom - area.top}
    />
  );
}

const kClipMargin = 6; // a mark at the edge stays whole

// What may reach beyond the part that is shown.
export function Clipped({ area, children }: { area: PlotArea; children: ComponentChildren }) {
  const id = `clip-${useId()}`;
  return (
    <g clip-path={`url(#${id})`}>
      <clipPath id={id}>
        <rect
          x={area.left - kClipMargin}
          y={0}
          width={area.right - area.left + 2 * kClipMargin}
          height={area.height}
        />
      </clipPath>
      {children}
    </g>
  );
}

const plotAround = (button: HTMLElement) =>
  button.closest("figure")?.querySelector<SVGElement>("svg.zoomable");

export function ShowAll({ zoom }: { zoom: Zoom }) {
  if (!isZoomed(zoom)) return null;
  return (
    <PassingButton class="quiet no-print" heir={plotAround} onClick={() => zoom.show(kWhole)}>
      Show all of it
    </PassingButton>
  );
}
