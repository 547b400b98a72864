// How one moves through a step chart beside dragging in it: with shift and a drag, or the arrow
// keys, what is shown moves; + and - zoom, 0 shows everything.
import type uPlot from "uplot";
import type { Range } from "./scale";

export const kPanZoomHint =
  "Drag to zoom, shift and drag or the arrow keys to move, + and - to zoom by keyboard, " +
  "double-click or 0 to see everything";

const kPanShare = 0.1; // of what is shown, a key
const kZoomFactor = 0.7;
const kIterationsMin = 4; // that are shown

// `by`: of what is shown. What is shown stays within the whole.
export function panned(shown: Range, whole: Range, by: number): Range {
  const width = shown.max - shown.min;
  const last = Math.max(whole.min, whole.max - width);
  const min = Math.min(Math.max(shown.min + by * width, whole.min), last);
  return { min, max: min + width };
}

// About the middle of what is shown.
export function scaledBy(shown: Range, whole: Range, factor: number): Range {
  const wanted = Math.max(kIterationsMin, (shown.max - shown.min) * factor);
  const width = Math.min(wanted, whole.max - whole.min);
  const middle = (shown.min + shown.max) / 2;
  return panned({ min: middle - width / 2, max: middle + width / 2 }, whole, 0);
}

function wholeOf(plot: uPlot): Range {
  const iterations = plot.data[0];
  return { min: (iterations[0] ?? 0) - 0.5, max: (iterations[iterations.length - 1] ?? 1) + 0.5 };
}

// The x axis of all iterations has half a step at either end. One of uPlot's options, which asks for
// what somebody zoomed to, too: that stays as it is, however often it is asked for.
export const iterationRange: uPlot.Range.Function = (plot, min, max) => {
  const iterations = plot.data[0];
  const isAll = min === iterations[0] && max === iterations[iterations.length - 1];
  const whole = wholeOf(plot);
  return isAll || min == null || max == null ? [whole.min, whole.max] : [min, max];
};

function shownOf(plot: uPlot): Range {
  const { min, max } = plot.scales.x ?? {};
  return min == null || max == null ? wholeOf(plot) : { min, max };
}

const kKeys: Record<string, (shown: Range, whole: Range) => Range> = {
  ArrowLeft: (shown, whole) => panned(shown, whole, -kPanShare),
  ArrowRight: (shown, whole) => panned(shown, whole, kPanShare),
  "+": (shown, whole) => scaledBy(shown, whole, kZoomFactor),
  "=": (shown, whole) => scaledBy(shown, whole, kZoomFactor),
  "-": (shown, whole) => scaledBy(shown, whole, 1 / kZoomFactor),
  "0": (_, whole) => whole,
};

// With shift a drag moves; uPlot's own would zoom. One of uPlot's options.
export const kDragWithoutShift: uPlot.Cursor.Bind = {
  mousedown: (_self, _target, handler) => (event) => {
    if (!event.shiftKey) handler(event);
    return null;
  },
};

// `plot` is the one in `host`; `all` move with it. Gives what ends it.
export function followMoves(
  host: HTMLElement,
  plot: () => uPlot,
  all: () => readonly uPlot[],
): () => void {
  const show = (range: Range) => {
    for (const each of all()) each.setScale("x", range);
  };
  const onKey = (event: KeyboardEvent) => {
    const move = kKeys[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(move(shownOf(plot()), wholeOf(plot())));
  };
  let began: { x: number; shown: Range } | null = null;
  const onDown = (event: PointerEvent) => {
    if (event.shiftKey && event.button === 0) began = { x: event.clientX, shown: shownOf(plot()) };
  };
  const onMove = (event: PointerEvent) => {
    if (!began) return;
    const width = plot().over.clientWidth || 1;
    show(panned(began.shown, wholeOf(plot()), (began.x - event.clientX) / width));
  };
  const onUp = () => {
    began = null;
  };
  host.addEventListener("keydown", onKey);
  host.addEventListener("pointerdown", onDown);
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onUp);
  return () => {
    host.removeEventListener("keydown", onKey);
    host.removeEventListener("pointerdown", onDown);
    removeEventListener("pointermove", onMove);
    removeEventListener("pointerup", onUp);
  };
}
