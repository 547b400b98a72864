// How many of the tools that people use agree with our step time, in words. Pure.
import type { ToolResult } from "./api/types";
import { formatCount, formatPercent, formatPlural } from "./format";

const kSameWithin = 0.000_5; // what a mean printed to four digits hides

// `readers`: the tools that read such a log.
export function agreementWords(
  readers: readonly Pick<ToolResult, "gives_result" | "difference_to_ours">[],
): string {
  const results = readers.filter((tool) => tool.gives_result);
  if (results.length === 0) return "No known tool gives a result for this log.";
  if (results.every((tool) => tool.difference_to_ours === null)) {
    return "We have no step time over this window to hold those of the tools against.";
  }
  const differing = results.filter(
    (tool) => Math.abs(tool.difference_to_ours ?? Infinity) > kSameWithin,
  );
  const silent = readers.length - results.length;
  const tolerance = formatPercent(kSameWithin, 2);
  const parts = [
    differing.length === 0
      ? `${allOf(results.length)} with ours, within ${tolerance}.`
      : `${someOf(differing.length, results.length)} a step time over ${tolerance} from ours.`,
  ];
  if (silent > 0) parts.push(`${formatPlural(silent, "tool")} would give none.`);
  return parts.join(" ");
}

function someOf(count: number, all: number): string {
  if (all === 1) return "The one tool that gives a result reports";
  const verb = count === 1 ? "reports" : "report";
  return `${formatCount(count)} of ${formatCount(all)} tools that give a result ${verb}`;
}

function allOf(count: number): string {
  if (count === 1) return "The one tool that gives a result agrees";
  return `${count === 2 ? "Both" : `All ${formatCount(count)}`} tools that give a result agree`;
}
