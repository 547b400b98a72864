// The filter of a page over the runs of several clusters: all of them, or one, which stands in the
// URL by the API's name. Nothing where there are no two to choose from.
import { queryValue, setQuery } from "../state/page_query";
import { rootList } from "../state/service";

export function ClusterChoice() {
  const chosen = queryValue("cluster");
  const names = new Set((rootList.value?.roots ?? []).flatMap(({ cluster }) => cluster ?? []));
  if (chosen) names.add(chosen);
  else if (names.size < 2) return null;
  return (
    <label class={chosen ? "field field-set" : "field"}>
      <span>cluster</span>
      <select
        value={chosen}
        onChange={(event) => setQuery("cluster", event.currentTarget.value)}
      >
        <option value="">all</option>
        {[...names].sort().map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
