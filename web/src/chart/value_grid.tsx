// The horizontal lines of a plot with their values at the left, as SVG.

const kGap = 8; // from a value to its line
const kHalfOfText = 4; // of its height

interface Props {
  ticks: readonly number[];
  labels: readonly string[]; // one for each tick
  left: number; // where the lines begin and end
  right: number;
  y: (value: number) => number;
}

export function ValueGrid({ ticks, labels, left, right, y }: Props) {
  return (
    <>
      {ticks.map((tick, at) => (
        <g key={tick}>
          <line class="grid" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
          <text class="tick" x={left - kGap} y={y(tick) + kHalfOfText} text-anchor="end">
            {labels[at]}
          </text>
        </g>
      ))}
    </>
  );
}
