// The filter of a page that shows many workloads: all of them, or one.
import { formatWorkload } from "../format";
import { ChoiceField } from "./choice_field";

interface Props {
  chosen: string; // empty: all
  workloads: readonly string[]; // in any order, a name may come twice
  onChoose: (workload: string) => void;
}

export function WorkloadChoice({ chosen, workloads, onChoose }: Props) {
  return (
    <ChoiceField
      label="workload"
      none="all"
      chosen={chosen}
      values={workloads}
      word={formatWorkload}
      onChoose={onChoose}
    />
  );
}
