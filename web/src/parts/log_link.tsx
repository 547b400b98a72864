// A way to the log's own lines: a button that opens the viewer of the run page at a byte.
import type { ComponentChildren } from "preact";
import { formatCount } from "../format";
import { lookAtLog } from "../state/log_place";

interface Props {
  offset: number;
  children?: ComponentChildren;
}

export function LogLink({ offset, children }: Props) {
  return (
    <button
      type="button"
      class="log-link"
      title={`Look at the log at byte ${formatCount(offset)}`}
      onClick={() => lookAtLog(offset)}
    >
      {children ?? `byte ${formatCount(offset)}`}
    </button>
  );
}
