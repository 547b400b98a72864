// What an address filters the runs by that has no field of its own: each can be taken away.
import { addressFilters } from "../state/address_filters";
import type { ListState } from "../state/list_state";
import { rootList } from "../state/service";

interface Props {
  state: ListState;
  onChange: (state: ListState) => void;
}

export function FilterChips({ state, onChange }: Props) {
  const filters = addressFilters(state, rootList.value?.roots ?? []);
  if (filters.length === 0) return null;
  return (
    <ul class="chips" aria-label="filters of the address">
      {filters.map(({ label, value, without }) => (
        <li key={`${label} ${value}`} class="chip">
          <span>
            {label} <b>{value}</b>
          </span>
          <button
            type="button"
            class="quiet"
            aria-label={`Take away: ${label} ${value}`}
            onClick={() => onChange(without)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
