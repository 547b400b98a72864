// Names from an address, quoted in a sentence: not too many, none too long. Pure.

const kNamed = 8;
const kNameChars = 24;

// "'a', 'b' and 2 more"
export function quotedNames(names: readonly string[]): string {
  const named = names
    .slice(0, kNamed)
    .map((name) => (name.length > kNameChars ? `${name.slice(0, kNameChars)}…` : name))
    .map((name) => `'${name}'`);
  const more = names.length - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}
