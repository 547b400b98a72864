// A drag across an SVG plot shows that part of its x axis alone; a double click, or reset(), shows
// everything again.
import { useState } from "preact/hooks";

export interface Extent {
  from: number; // shares of the whole axis
  to: number;
}

const kWhole: Extent = { from: 0, to: 1 };
const kDragMin = 0.02; // of the plot; less is a click

// What of `shown` lies between two places of the plot, as shares of its width.
export function zoomed({ from, to }: Extent, a: number, b: number): Extent {
  const [low, high] = a < b ? [a, b] : [b, a];
  if (high - low < kDragMin) return { from, to };
  return { from: from + low * (to - from), to: from + high * (to - from) };
}

// `left` and `right`: where the axis begins and ends, in units of a view box that is `viewWidth` wide.
export function useDragZoom(left: number, right: number, viewWidth: number) {
  const [shown, setShown] = useState(kWhole);
  const [drag, setDrag] = useState<{ start: number; end: number } | null>(null);
  const placeOf = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * viewWidth;
    return Math.min(1, Math.max(0, (x - left) / (right - left)));
  };
  return {
    shown,
    drag,
    isZoomed: shown !== kWhole,
    reset: () => setShown(kWhole),
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || event.pointerType === "touch") return; // which scrolls the page
      (event.currentTarget as SVGSVGElement).setPointerCapture(event.pointerId);
      setDrag({ start: placeOf(event), end: placeOf(event) });
    },
    onDrag: (event: PointerEvent) => {
      if (drag) setDrag({ ...drag, end: placeOf(event) });
    },
    onPointerUp: () => {
      if (drag) setShown(zoomed(shown, drag.start, drag.end));
      setDrag(null);
    },
  };
}
