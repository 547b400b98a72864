// The keys of the table of runs, behind a button: they are seen nowhere else.
import { PopUp } from "../parts/pop_up";

const kKeys: readonly [string, string][] = [
  ["j", "the next run"],
  ["k", "the run before"],
  ["x", "picks it, or no more"],
  ["c", "compares what is picked"],
  ["Enter", "opens it"],
];

export function TableKeys() {
  return (
    <PopUp class="table-keys" summary="Keys">
      <div class="choice-list">
        <p class="sub">While the focus is in the table:</p>
        <dl>
          {kKeys.map(([key, does]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <p class="sub">
          Anywhere: <kbd>/</kbd> goes to the search field.
        </p>
      </div>
    </PopUp>
  );
}
