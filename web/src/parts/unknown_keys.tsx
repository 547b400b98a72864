// The banner over a page whose address asks for what the page does not know.
import { place } from "../state/location";
import { unknownKeyWords } from "../state/unknown_keys";

export function UnknownKeys() {
  const complaint = unknownKeyWords(place.value);
  if (!complaint) return null;
  return (
    <section class="banner" role="alert">
      <p>{complaint}</p>
    </section>
  );
}
