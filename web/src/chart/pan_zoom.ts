// How one moves through a plot beside dragging in it: with shift and a drag, or the arrow keys, what
// is shown moves; + and - zoom, 0 shows everything. The keys of every plot, and the rest of it for
// uPlot's; plot_zoom.tsx has it for those that are SVG.
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

// About the middle of what is shown, which is never less than `widthMin`.
export function scaledBy(shown: Range, whole: Range, factor: number, widthMin: number): Range {
  const wanted = Math.max(widthMin, (shown.max - shown.min) * factor);
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

// Null: every iteration is shown.
export function zoomedPart(plot: uPlot): Range | null {
  const { min, max } = plot.scales.x ?? {};
  if (min == null || max == null) return null;
  const iterations = plot.data[0];
  const isPart = min > (iterations[0] ?? min) || max < (iterations[iterations.length - 1] ?? max);
  return isPart ? { min, max } : null;
}

type Move = (shown: Range, whole: Range, widthMin: number) => Range;

const kNearer: Move = (shown, whole, widthMin) => scaledBy(shown, whole, kZoomFactor, widthMin);

const kKeys: Record<string, Move> = {
  ArrowLeft: (shown, whole) => panned(shown, whole, -kPanShare),
  ArrowRight: (shown, whole) => panned(shown, whole, kPanShare),
  "+": kNearer,
  "=": kNearer,
  "-": (shown, whole, widthMin) => scaledBy(shown, whole, 1 / kZoomFactor, widthMin),
  "0": (_, whole) => whole,
};

// What a key makes of what is shown; undefined for any other key, which the page keeps.
export function moveOfKey(event: KeyboardEvent): Move | undefined {
  const move = kKeys[event.key];
  if (!move || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  event.preventDefault();
  return move;
}

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
    const move = moveOfKey(event);
    if (move) show(move(shownOf(plot()), wholeOf(plot()), kIterationsMin));
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
