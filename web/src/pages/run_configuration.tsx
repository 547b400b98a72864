// How the run was launched, as far as it is known: every value with the source that says so,
// and every other source that says something else.
import type { ConfigurationValue, RunDetails } from "../api/types";
import { formatKey, formatSource } from "../format";
import { KeyName } from "../parts/key_name";

export function RunConfiguration({ run }: { run: RunDetails }) {
  if (run.configuration.length === 0) return null;
  const conflicts = new Set(run.configuration_conflicts);
  return (
    <section aria-labelledby="configuration-title">
      <div class="section-head">
        <h2 id="configuration-title">Configuration</h2>
        {conflicts.size > 0 && (
          <p class="conflict">
            <ConflictShape /> sources disagree on {[...conflicts].map(formatKey).join(", ")}
          </p>
        )}
      </div>
      <div class="in-columns">
        <table class="plain configuration">
          <thead>
            <tr>
              <th scope="col">key</th>
              <th scope="col">value</th>
              <th scope="col">from</th>
            </tr>
          </thead>
          <tbody>
            {run.configuration.map((entry) => (
              <Entry key={entry.key} entry={entry} isConflict={conflicts.has(entry.key)} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Entry({ entry, isConflict }: { entry: ConfigurationValue; isConflict: boolean }) {
  const others = entry.alternatives.filter((other) => other.value !== entry.value);
  const agreeing = entry.alternatives.filter((other) => other.value === entry.value);
  const sources = [entry, ...agreeing].map((each) => formatSource(each.source));
  return (
    <tr class={isConflict ? "is-conflict" : undefined}>
      <th scope="row">
        <KeyName name={entry.key} />
      </th>
      <td>
        {isConflict && <ConflictShape />}
        {entry.value}
      </td>
      <td class="source">
        {sources.join(", ")}
        {others.map((other) => (
          <span key={`${other.source}:${other.value}`} class="other">
            {formatSource(other.source)} says <b>{other.value}</b>
          </span>
        ))}
      </td>
    </tr>
  );
}

function ConflictShape() {
  return (
    <svg
      class="conflict-shape"
      viewBox="0 0 14 14"
      width="13"
      height="13"
      role="img"
      aria-label="conflict"
    >
      <path d="M7 1.8 13 12.2H1Z" class="stroke thin" />
      <path d="M7 5.4V8.6M7 10.2V10.9" class="stroke thin" />
    </svg>
  );
}
