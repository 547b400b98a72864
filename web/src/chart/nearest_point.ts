// Which of a plot's points the pointer is nearest to, along its x axis: what a crosshair and the
// value beside the title need.
import { useRef, useState } from "preact/hooks";

// `xs`: of the points, in units of the SVG's view box, in any order. Gives the index of the nearest.
export function nearestOf(xs: readonly number[], x: number): number | null {
  let nearest: number | null = null;
  xs.forEach((candidate, at) => {
    const best = nearest === null ? Infinity : Math.abs((xs[nearest] ?? 0) - x);
    if (Math.abs(candidate - x) < best) nearest = at;
  });
  return nearest;
}

export function useNearestPoint(
  viewWidth: number,
  xs: readonly number[],
  onPoint: (at: number | null) => void,
) {
  const svg = useRef<SVGSVGElement>(null);
  const onPointerMove = (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect();
    if (box && box.width > 0) {
      onPoint(nearestOf(xs, ((event.clientX - box.left) / box.width) * viewWidth));
    }
  };
  return { svg, onPointerMove, onPointerLeave: () => onPoint(null) };
}

// Of a plot that shares its crosshair with no other.
export function useOwnPoint(viewWidth: number, xs: readonly number[]) {
  const [at, setAt] = useState<number | null>(null);
  return { at, follow: useNearestPoint(viewWidth, xs, setAt) };
}
