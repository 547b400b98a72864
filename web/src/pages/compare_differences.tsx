// In what the configurations of the compared groups differ.
import type { Comparison } from "../api/types";
import { kUnknown } from "../format";
import { KeyName } from "../parts/key_name";
import { nameOfGroup } from "../state/sides";

export function Differences({ comparison }: { comparison: Comparison }) {
  const { differences, groups } = comparison;
  if (groups.length < 2) return null;
  return (
    <section aria-labelledby="differences-title">
      <div class="section-head">
        <h2 id="differences-title">In what they differ</h2>
      </div>
      {differences.length === 0 ? (
        <p>In nothing that is known of them.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Table of differences">
          <table class="plain stacked" role="table">
            <thead role="rowgroup">
              <tr role="row">
                <td role="cell" />
                {groups.map(({ group }) => (
                  <th key={group} role="columnheader" scope="col">
                    {nameOfGroup(group, groups)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody role="rowgroup">
              {differences.map(({ key, values }) => (
                <tr key={key} role="row">
                  <th role="rowheader" scope="row">
                    <KeyName name={key} />
                  </th>
                  {values.map((value, at) => (
                    <td key={at} role="cell" data-label={nameOfGroup(at, groups)}>
                      {value ?? kUnknown}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
