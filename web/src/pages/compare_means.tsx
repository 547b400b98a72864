// What each of the compared groups amounts to: its mean, by how much its runs differ, and the
// interval of the mean. Groups of one run each are told by their rows.
import type { ComparedMetric, Comparison, GroupMetric } from "../api/types";
import { formatCount, formatMeanDeviation, formatNumber } from "../format";
import { Table } from "../parts/table";
import { nameOfGroup } from "../state/sides";

const kMetrics: [ComparedMetric, string][] = [
  ["step_time_s", "step time, s"],
  ["tokens_per_s_per_gpu", "tokens/s/GPU"],
  ["tflops_per_gpu", "TFLOPS/GPU"],
];

export function GroupMeans({ comparison: { groups, confidence } }: { comparison: Comparison }) {
  if (groups.every(({ run_ids }) => run_ids.length < 2)) return null;
  return (
    <section aria-labelledby="means-title">
      <div class="section-head">
        <h2 id="means-title">Groups</h2>
        <p class="count">
          mean ± sample standard deviation of the runs, and the mean's {100 * confidence} % interval
        </p>
      </div>
      <Table
        isStacked
        name="Means of the groups"
        heads={["group", "#runs", ...kMetrics.map(([, name]) => `#${name}`)]}
        rows={groups.map(({ group, run_ids, metrics }) => [
          nameOfGroup(group, groups),
          formatCount(run_ids.length),
          ...kMetrics.map(([metric]) => <Estimate of={metrics[metric]} />),
        ])}
      />
    </section>
  );
}

function Estimate({ of: { mean, stddev_sample: deviation, low, high } }: { of: GroupMetric }) {
  return (
    <>
      {formatMeanDeviation(mean, deviation)}
      {low !== null && high !== null && (
        <span class="sub">
          {formatNumber(low)} to {formatNumber(high)}
        </span>
      )}
    </>
  );
}
