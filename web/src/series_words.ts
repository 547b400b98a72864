// In what series of runs differ from each other, in words. Pure.
import type { Scaling } from "./api/types";
import { formatKey, writtenName } from "./format";

export type DifferingValue = Scaling["series"][number]["differences"][number];

const kNamed = 3;

// "release 24.11, NCCL_ALGO=Ring": what is set by its name stands as it is set.
export function differencesText(differences: readonly DifferingValue[]): string {
  return differences
    .map(({ key, value }) => {
      const joint = writtenName(key) !== null && value !== null ? "=" : " ";
      return `${formatKey(key)}${joint}${value ?? "not stated"}`;
    })
    .join(", ");
}

// Of `one` what `other` has not, by its first few.
export function differenceBetween(
  one: readonly DifferingValue[],
  other: readonly DifferingValue[],
): string {
  const values = new Map(other.map(({ key, value }) => [key, value]));
  const differing = one.filter(({ key, value }) => (values.get(key) ?? null) !== value);
  const more = differing.length - kNamed;
  const named = differencesText(more > 1 ? differing.slice(0, kNamed) : differing);
  return more > 1 ? `${named} and ${more} more that differ` : named;
}
