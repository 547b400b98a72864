// What an address asks for that its page does not know, in words. Pure.
import { kHistoryKeys } from "./history";
import { kKnownKeys } from "./list_state";
import { pageOf, type Page, type Place } from "./location";
import { kMeasuringKeys } from "./measuring";
import { quotedNames } from "./quoted_names";
import { kSideKeys } from "./sides";
import { kSubmissionKeys } from "./submission";

const kKeysOf: Record<Exclude<Page["name"], "unknown">, readonly string[]> = {
  board: ["workload", "gpu_type", "cluster", "state", "cell", "view"],
  runs: kKnownKeys,
  run: ["window", "without", "scale", "log", "find"],
  compare: [...kSideKeys, ...kMeasuringKeys],
  scaling: ["workload", "cluster", ...kMeasuringKeys],
  history: [...kHistoryKeys, "run", "cluster", "days", ...kMeasuringKeys],
  failures: kKnownKeys,
  references: ["document", "findings"],
  jobs: kSubmissionKeys,
  job: [],
  health: [],
};

// Empty where it knows all.
export function unknownKeyWords({ path, query }: Place): string {
  const { name } = pageOf(path);
  if (name === "unknown") return "";
  const unknown = [...new Set(query.keys())].filter((key) => !kKeysOf[name].includes(key));
  if (unknown.length === 0) return "";
  return `The address asks for ${quotedNames(unknown)}, which this page does not know and leaves out.`;
}
