// A button that is gone once it was pressed. Whoever pressed it by keyboard would be left at the
// top of the page: its heir has the focus then.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Heir = (button: HTMLElement) => HTMLElement | SVGElement | null | undefined;

interface Props {
  class?: string;
  "aria-label"?: string;
  heir: Heir; // the first one given; where it finds none, the page's content
  onClick: () => void;
  children: ComponentChildren;
}

export const summaryAround: Heir = (button) => button.closest("details")?.querySelector("summary");

export function PassingButton({ heir, ...button }: Props) {
  const ref = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const own = ref.current;
    // Before it leaves the page.
    return () => {
      if (!own || document.activeElement !== own) return;
      (heir(own) ?? document.getElementById("main"))?.focus({ preventScroll: true });
    };
  }, []);
  return <button type="button" ref={ref} {...button} />;
}
