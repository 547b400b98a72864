// What would decide a comparison: the commands that launch each group's configuration again.
import { fetchRun } from "../api/client";
import type { Comparison, GroupComparison, RunDetails, RunGroup } from "../api/types";
import { formatPlural } from "../format";
import { CopyButton } from "../parts/copy_buttons";
import { useAnswer } from "../state/answer";
import { nameOfGroup } from "../state/sides";
import { submitCommandOf } from "../state/submit_command";
import { runsToDecide } from "../verdict_words";

interface Props {
  entry: GroupComparison;
  comparison: Comparison;
}

export function DecidingCommands({ entry, comparison }: Props) {
  const more = runsToDecide(entry.metrics.step_time_s);
  const groups = [entry.baseline, entry.group].flatMap(
    (group) => comparison.groups.find((one) => one.group === group) ?? [],
  );
  if (more === null || groups.length < 2) return null;
  return <Commands more={more} groups={groups} />;
}

function Commands({ more, groups }: { more: number; groups: RunGroup[] }) {
  const ids = groups.flatMap(({ run_ids: runs }) => runs.slice(0, 1));
  const answer = useAnswer(
    `launched ${ids.join()}`,
    (abort) => Promise.all(ids.map((id) => fetchRun(id, abort))),
    (run) => ids.includes(run),
  );
  const launched = answer.isOld ? null : answer.value.value;
  const lines = (launched ?? []).flatMap((run, at) => {
    const group = groups[at];
    if (!group) return [];
    const command = commandOf(run, more);
    return command ? [`# ${nameOfGroup(group.group, groups)}\n${command}`] : [];
  });
  if (lines.length === 0) return null;
  const text = lines.join("\n");
  return (
    <>
      <p class="command-head">
        {formatPlural(more, "more run")} of each group:{" "}
        <CopyButton label="Copy the commands" text={() => text} />
      </p>
      <pre class="command" tabIndex={0}>
        {text}
      </pre>
    </>
  );
}

// Null where the run does not say what it is.
function commandOf(run: RunDetails, repeats: number): string | null {
  const { workload, model_size, dtype, gpu_type, gpu_count } = run;
  if (!workload || !model_size || !dtype || !gpu_type || gpu_count === null) return null;
  return submitCommandOf({ workload, model_size, dtype, gpu_type, gpu_count }, repeats, environmentOf(run));
}

const kEnvironment = /(^|\.)env_overrides\.(\w+)$/;

// What its launch set.
function environmentOf({ configuration }: RunDetails): [string, string][] {
  return configuration.flatMap(({ key, value }): [string, string][] => {
    const name = kEnvironment.exec(key)?.[2];
    return name ? [[name, value]] : [];
  });
}
