// Who comes back from a run to the list stands at its row. It is looked for each time that rows are
// drawn, for only those on the screen are there; not once the focus is somewhere else.
import { useLayoutEffect } from "preact/hooks";
import { steppedFrom } from "./location";

const isNowhere = () =>
  document.activeElement === document.body || document.activeElement?.id === "main";

export function useFocusOnReturn(body: { current: HTMLElement | null }, drawn: unknown): void {
  useLayoutEffect(() => {
    const from = steppedFrom.value;
    if (from?.name !== "run") return;
    const link = body.current?.querySelector<HTMLElement>(`[data-run="${from.id}"] a.name`);
    if (!link && isNowhere()) return;
    steppedFrom.value = null;
    if (isNowhere()) link?.focus({ preventScroll: true });
  }, [drawn]);
}
