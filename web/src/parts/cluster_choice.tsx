// The filter of a page over the runs of several clusters: all of them, or one, which stands in the
// URL by the API's name. Nothing where there are no two to choose from.
import { useEffect } from "preact/hooks";
import { askClusters, clusters } from "../state/clusters";
import { queryValue, setQuery } from "../state/page_query";
import { ChoiceField } from "./choice_field";

export function ClusterChoice() {
  useEffect(() => void askClusters(), []);
  const chosen = queryValue("cluster");
  const names = clusters.value;
  if (!chosen && names.length < 2) return null;
  return (
    <ChoiceField
      label="cluster"
      none="all"
      chosen={chosen}
      values={names}
      onChoose={(name) => setQuery("cluster", name)}
    />
  );
}
