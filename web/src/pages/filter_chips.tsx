// What an address filters the runs by that has no field of its own: each can be taken away.
import { useLayoutEffect, useRef } from "preact/hooks";
import { addressFilters, type AddressFilter } from "../state/address_filters";
import type { ListState } from "../state/list_state";
import { rootList } from "../state/service";

interface Props {
  state: ListState;
  hidden?: readonly AddressFilter[]; // for which this page alone has no field
  onChange: (state: ListState) => void;
}

export function FilterChips({ state, hidden = [], onChange }: Props) {
  const filters = [...hidden, ...addressFilters(state, rootList.value?.roots ?? [])];
  const list = useRef<HTMLUListElement>(null);
  // Where a chip was taken away: the focus would be lost with its button.
  const taken = useRef<{ place: number; form: HTMLFormElement | null } | null>(null);
  useLayoutEffect(() => {
    if (!taken.current) return;
    const { place, form } = taken.current;
    const left = list.current?.querySelectorAll("button") ?? [];
    const next = left[Math.min(place, left.length - 1)] ?? form?.querySelector(".more-filters");
    (next as HTMLElement | null)?.focus();
    taken.current = null;
  }, [filters.length]);
  if (filters.length === 0) return null;
  return (
    <ul ref={list} class="chips" aria-label="filters of the address">
      {filters.map(({ label, value, without }, place) => (
        // Keyed by place: a tree's label changes once its path is known, and a new button would lose
        // the focus.
        <li key={place} class="chip">
          <span>
            {label} <b>{value}</b>
          </span>
          <button
            type="button"
            class="quiet"
            aria-label={`Take away: ${label} ${value}`}
            onClick={(event) => {
              taken.current = { place, form: event.currentTarget.form };
              onChange(without);
            }}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
