// Esc, for as long as what it closes is open.
import { useLayoutEffect, useRef } from "preact/hooks";

// Of a field that is typed or chosen in, Esc is the field's own.
const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest("input, select, textarea") !== null;

export function useEscape(close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  // A key may come as soon as it is drawn, and an effect only later.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || isField(event.target)) return;
      latest.current();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
