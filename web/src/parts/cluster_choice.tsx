// The filter of a page over the runs of several clusters: all of them, or one, which stands in the
// URL by the API's name. Nothing where there are no two to choose from.
import { queryValue, setQuery } from "../state/page_query";
import { rootList } from "../state/service";
import { ChoiceField } from "./choice_field";

// `further`: names that the runs themselves say.
export function ClusterChoice({ further = [] }: { further?: readonly string[] }) {
  const chosen = queryValue("cluster");
  const ofTrees = (rootList.value?.roots ?? []).flatMap(({ cluster }) => cluster ?? []);
  const names = new Set([...ofTrees, ...further]);
  if (!chosen && names.size < 2) return null;
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
