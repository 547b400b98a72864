// The filters that only an address of the runs page asks for, in words, each with the state that
// would be without it. Pure.
import type { Root } from "../api/types";
import { kAddressKeys, toggled, type ListState } from "./list_state";

export interface AddressFilter {
  label: string;
  value: string;
  without: ListState;
}

const kLabels: Record<(typeof kAddressKeys)[number], string> = {
  experiment: "experiment",
  job_id: "job",
  root_id: "tree",
};

export function addressFilters(
  state: ListState,
  roots: readonly Pick<Root, "id" | "path">[],
): AddressFilter[] {
  const pathOf = (id: string) => roots.find((root) => String(root.id) === id)?.path ?? id;
  const filters: AddressFilter[] = kAddressKeys.flatMap((key) =>
    state[key].map((value) => ({
      label: kLabels[key],
      value: key === "root_id" ? pathOf(value) : value,
      without: { ...state, [key]: toggled(state[key], value) },
    })),
  );
  const superseded = state.include_superseded;
  if (superseded) {
    const value = superseded === "true" ? "superseded runs" : `superseded runs: ${superseded}`;
    filters.push({ label: "with", value, without: { ...state, include_superseded: "" } });
  }
  return filters;
}
