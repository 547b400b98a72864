// One of a run's headline figures: name, value with unit, and how it is made, a click away.
import type { ComponentChildren } from "preact";
import type { Metric } from "../api/types";
import { formatKey, formatScientific, kUnknown } from "../format";

interface Props {
  name: string;
  value: string;
  note?: ComponentChildren;
  metric?: Metric; // its formula and inputs
}

export function Figure({ name, value, note, metric }: Props) {
  return (
    <div class="figure">
      <p class="figure-name">{name}</p>
      <p class="figure-value">{value}</p>
      {note && <p class="figure-note">{note}</p>}
      {metric && value === kUnknown && metric.reason && <p class="figure-note">{metric.reason}</p>}
      {metric && metric.formula && (
        <details class="formula">
          <summary aria-label={`how it is made: ${name}`}>how it is made</summary>
          <p>
            <code>{metric.formula}</code>
          </p>
          <dl>
            {metric.inputs.map((input) => (
              <div key={input.name}>
                <dt>{formatKey(input.name)}</dt>
                <dd>
                  {formatScientific(input.value)} <span class="sub">{input.source}</span>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}
