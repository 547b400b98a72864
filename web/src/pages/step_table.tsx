// The charts' twin in text: every step with every figure that the log prints for it.
import { useState } from "preact/hooks";
import type { StepMetric, Steps } from "../api/types";
import { nanWords, type NanRows } from "../chart/nan_steps";
import { formatBytes, formatCount, formatNumber, formatPlural, formatScientific } from "../format";
import { LogLink } from "../parts/log_link";
import { windowHolds, type IterationWindow } from "../state/window";

type Format = (value: number | null | undefined) => string;

const kMetrics: [StepMetric, string, Format][] = [
  ["step_time_s", "step time, s", formatNumber],
  ["tflops_per_gpu", "TFLOPS/GPU", formatNumber],
  ["loss", "loss", formatScientific],
  ["grad_norm", "grad norm", formatScientific],
  ["learning_rate", "learning rate", formatScientific],
  ["global_batch_size", "global batch", formatCount],
  ["memory_bytes_max", "memory, max", formatBytes],
];

const kRowsAtOnce = 200;

interface Props {
  steps: Steps;
  window: IterationWindow | null;
  segment: number;
  nan: NanRows;
}

export function StepTable(props: Props) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="twin" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Table of {formatPlural(props.steps.iteration.length, "step")}</summary>
      {isOpen && <Rows {...props} />}
    </details>
  );
}

function Rows({ steps, window, segment, nan }: Props) {
  const [rows, setRows] = useState(kRowsAtOnce);
  const metrics = kMetrics.filter(([key]) => steps[key]?.length);
  const hasSegments = new Set(steps.segment).size > 1;
  const shown = steps.iteration.slice(0, rows);
  const offsets = steps.byte_offset;
  return (
    <>
      <div class="scroll tall" tabIndex={0} role="region" aria-label="Table of the steps">
        <table class="plain">
          <thead>
            <tr>
              {hasSegments && (
                <th scope="col" class="number">
                  segment
                </th>
              )}
              <th scope="col" class="number">
                iteration
              </th>
              <th scope="col">in window</th>
              {metrics.map(([key, title]) => (
                <th key={key} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((iteration, row) => {
              const counts = steps.segment[row] === segment && windowHolds(window, iteration);
              return (
                <tr key={row} class={counts ? "in-window" : undefined}>
                  {hasSegments && <td class="number">{steps.segment[row]}</td>}
                  <th scope="row" class="number">
                    {offsets?.[row] === undefined ? (
                      formatCount(iteration)
                    ) : (
                      <LogLink offset={offsets[row]}>{formatCount(iteration)}</LogLink>
                    )}
                  </th>
                  <td>{counts ? "yes" : ""}</td>
                  {metrics.map(([key, , format]) => (
                    <td key={key} class="number">
                      {nanWords(nan, key, row) ?? format(steps[key]?.[row])}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {rows < steps.iteration.length && (
        <p class="more">
          <button type="button" onClick={() => setRows(rows + 5 * kRowsAtOnce)}>
            Show more
          </button>
          <span>
            {formatCount(shown.length)} of {formatCount(steps.iteration.length)} shown
          </span>
        </p>
      )}
    </>
  );
}
