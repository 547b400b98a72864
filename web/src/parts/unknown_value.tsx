// In place of what the address asks for by a value that nothing has: which one, and the way to the
// page without it.
import { quotedNames } from "../state/quoted_names";
import { hrefOf, place } from "../state/location";
import { queryValue } from "../state/page_query";
import { HintPanel } from "./panels";

interface Props {
  name: string; // in the address
  nothing: string; // "No document is called"
  every: string; // "Show every document"
}

export function UnknownValue({ name, nothing, every }: Props) {
  const query = new URLSearchParams(place.value.query);
  query.delete(name);
  return (
    <HintPanel title={`${nothing} ${quotedNames([queryValue(name)])}`}>
      <p>
        The address asks for it. <a href={hrefOf(place.value.path, query)}>{every}</a>
      </p>
    </HintPanel>
  );
}

export function UnknownCluster() {
  return (
    <UnknownValue name="cluster" nothing="No cluster is called" every="Show every cluster" />
  );
}
