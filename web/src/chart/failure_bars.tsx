// How many of the runs of each day, week or month failed, as stacked bars in SVG. The table below is
// its twin for those who do not see it.
import { useState } from "preact/hooks";
import type { FailurePeriod, Failures } from "../api/types";
import { periodWords, withoutCause } from "../failure_words";
import { formatCount } from "../format";
import { Table } from "../parts/table";
import { valueTicks } from "./history_points";
import { useMeasuredWidth } from "./measured_width";

const kHeight = 180;
const kTop = 10;
const kBottom = 24;
const kLeft = 48;
const kRight = 8;
const kDateWidth = 110; // of a label and the space around it
const kTicks = 4;

const kParts = [
  { name: "failed", words: "failed", runsOf: ({ failed }: FailurePeriod) => failed },
  { name: "unexplained", words: "not complete, no failure found", runsOf: withoutCause },
  { name: "complete", words: "complete", runsOf: ({ complete }: FailurePeriod) => complete },
];

export function FailureBars({ failures }: { failures: Failures }) {
  const { figure, width } = useMeasuredWidth();
  const [at, setAt] = useState<number | null>(null);
  const { period, periods } = failures;
  const highest = Math.max(1, ...periods.map(({ ended }) => ended));
  const axisY = kHeight - kBottom;
  const slot = (width - kLeft - kRight) / periods.length;
  const y = (runs: number) => axisY - ((axisY - kTop) * runs) / highest;
  const ticks = valueTicks({ min: 0, max: highest }, kTicks).filter(Number.isInteger);
  const every = Math.max(1, Math.ceil(kDateWidth / slot));
  const pointed = at === null ? undefined : periods[at];
  return (
    <figure class="plot-card failure-bars" ref={figure}>
      <figcaption>
        Runs by the {period} of their launch, in UTC{" "}
        <span class="readout" aria-hidden="true">
          {pointed && periodWords(period, pointed)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${kHeight}`}
        role="img"
        aria-label={
          `Runs that ended, by ${period} of their launch in UTC; ` +
          "the table below has the numbers"
        }
        onPointerLeave={() => setAt(null)}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={kLeft} x2={width - kRight} y1={y(tick)} y2={y(tick)} />
            <text class="tick" x={kLeft - 8} y={y(tick) + 4} text-anchor="end">
              {formatCount(tick)}
            </text>
          </g>
        ))}
        {periods.map((one, place) => (
          <Bar
            key={one.begins_on}
            one={one}
            x={kLeft + slot * place}
            slot={slot}
            y={y}
            onPointed={() => setAt(place)}
          />
        ))}
        {periods.map(
          ({ begins_on }, place) =>
            place % every === 0 &&
            kLeft + slot * place < width - kDateWidth / 2 && (
              <text key={begins_on} class="tick" x={kLeft + slot * place} y={kHeight - 6}>
                {begins_on}
              </text>
            ),
        )}
      </svg>
      <p class="legend">
        {kParts.map(({ name, words }) => (
          <span key={name}>
            <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
              <rect class={`runs-${name}`} x="0.5" y="0.5" width="13" height="13" />
            </svg>
            {words}
          </span>
        ))}
      </p>
    </figure>
  );
}

interface BarProps {
  one: FailurePeriod;
  x: number;
  slot: number;
  y: (runs: number) => number;
  onPointed: () => void;
}

function Bar({ one, x, slot, y, onPointed }: BarProps) {
  const gap = Math.min(4, slot / 5);
  let below = 0;
  return (
    <g onPointerEnter={onPointed}>
      <rect class="pointed-at" x={x} y={kTop} width={slot} height={y(0) - kTop} />
      {kParts.map(({ name, runsOf }) => {
        const top = y(below + runsOf(one));
        const height = y(below) - top;
        below += runsOf(one);
        if (height <= 0) return null;
        return (
          <rect
            key={name}
            class={`runs-${name}`}
            x={x + gap / 2}
            y={top}
            width={Math.max(1, slot - gap)}
            height={height}
          />
        );
      })}
    </g>
  );
}

export function PeriodTable({ failures: { period, periods } }: { failures: Failures }) {
  return (
    <details class="twin">
      <summary>Table of the {period}s</summary>
      <Table
        name={`Runs by ${period}`}
        heads={[
          `${period} of launch, UTC`,
          "#ended",
          "#failed",
          "#not complete, no failure found",
          "#complete",
        ]}
        rows={periods
          .filter(({ ended }) => ended > 0)
          .map((one) => [
            one.begins_on,
            formatCount(one.ended),
            formatCount(one.failed),
            formatCount(withoutCause(one)),
            formatCount(one.complete),
          ])}
        isTall
      />
    </details>
  );
}
