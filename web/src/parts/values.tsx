// Small pieces of text that several places show alike.
import type { Run } from "../api/types";
import {
  formatAgo,
  formatCount,
  formatDay,
  formatInstant,
  formatUtc,
  kUnknown,
  splitExperiment,
} from "../format";
import { nowMs } from "../state/service";
import { zone } from "../state/zone";

export function Instant({ at }: { at: string | null }) {
  if (!at) return <>{kUnknown}</>;
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {formatInstant(at, zone.value)}
    </time>
  );
}

export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {formatDay(at, zone.value)}
    </time>
  );
}

export function Ago({ at }: { at: string | null }) {
  if (!at) return <>{kUnknown}</>;
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {formatAgo(at, nowMs.value, zone.value)}
    </time>
  );
}

export function runName(run: Run): string {
  return run.experiment || run.relative_path.slice(run.relative_path.lastIndexOf("/") + 1);
}

// A long name breaks at its underscores, and nowhere else if that suffices.
export function breakable(text: string) {
  return text.split(/(?<=_)/).flatMap((part, at) => (at === 0 ? [part] : [<wbr />, part]));
}

// The name whole, so that it can be copied, with its parallel layout set back.
export function ExperimentName({ run }: { run: Run }) {
  const [head, tail] = splitExperiment(runName(run));
  return (
    <>
      <span class="name-head">{breakable(head)}</span>
      {tail && <span class="name-tail">{breakable(tail)}</span>}
    </>
  );
}

// "256 × h100", as far as it is known.
export function gpuText(run: Run): string {
  if (run.gpu_count === null) return run.gpu_type ?? kUnknown;
  const count = formatCount(run.gpu_count);
  return run.gpu_type ? `${count} × ${run.gpu_type}` : count;
}
