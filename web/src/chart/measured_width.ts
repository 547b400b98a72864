// How wide a figure is on the page: an SVG drawn to it has text as large as the page's.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const kUsualWidth = 720; // until it is measured
const kWidthMin = 240;

export function useMeasuredWidth() {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(kUsualWidth);
  // Before it is painted: at another width it would be seen to jump.
  useLayoutEffect(() => {
    if (!figure.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(kWidthMin, Math.floor(entry.contentRect.width)));
    });
    observer.observe(figure.current);
    return () => observer.disconnect();
  }, []);
  return { figure, width };
}
