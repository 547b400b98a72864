// The filter of a page that shows many workloads: all of them, or one.
import { formatWorkload } from "../format";

interface Props {
  chosen: string; // empty: all
  workloads: readonly string[]; // in any order, a name may come twice
  onChoose: (workload: string) => void;
}

export function WorkloadChoice({ chosen, workloads, onChoose }: Props) {
  const names = new Set(chosen ? [...workloads, chosen] : workloads);
  return (
    <label class={chosen ? "field field-set" : "field"}>
      <span>workload</span>
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">all</option>
        {[...names].sort().map((name) => (
          <option key={name} value={name}>
            {formatWorkload(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
