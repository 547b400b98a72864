// A scaling series as a table: its columns, its rows, and their numbers for other programs, neither
// rounded nor grouped. Pure.
import type { ScalingPoint, ScalingSeries } from "../api/types";
import { formatPlural } from "../format";
import { efficiencyBases } from "./scaling_points";

const kInterval = "95 % interval";

export function scalingHeads(series: ScalingSeries): string[] {
  const { measured, published } = efficiencyBases(series);
  const against = (gpus: number | null) =>
    gpus === null ? "" : ` against ${formatPlural(gpus, "GPU")}`;
  return [
    "GPUs",
    "global batch",
    "runs",
    "tokens/s/GPU",
    kInterval,
    "tokens/s",
    `efficiency${against(measured)}`,
    "published tokens/s/GPU",
    `published efficiency${against(published)}`,
    "against published",
  ];
}

// Measured or published, so that what is yet to be measured has a row, too.
export function gpuCounts(series: ScalingSeries): number[] {
  const counts = [...series.points, ...series.published].map((point) => point.gpu_count);
  return [...new Set(counts)].sort((a, b) => a - b);
}

export function tokensPerS({ tokens_per_s_per_gpu: { mean }, gpu_count }: ScalingPoint) {
  return mean === null ? null : mean * gpu_count;
}

// Of an interval both ends have a column.
export function scalingTable(series: ScalingSeries) {
  const heads = scalingHeads(series).flatMap((head) =>
    head === kInterval ? [`${head}, low`, `${head}, high`] : [head],
  );
  const rows = gpuCounts(series).flatMap((gpus) => {
    const points = series.points.filter((point) => point.gpu_count === gpus);
    const published = series.published.find((point) => point.gpu_count === gpus);
    return (points.length > 0 ? points : [null]).map((point) => [
      gpus,
      point ? point.global_batch_size : published?.global_batch_size,
      point?.tokens_per_s_per_gpu.run_count ?? 0,
      point?.tokens_per_s_per_gpu.mean,
      point?.tokens_per_s_per_gpu.low,
      point?.tokens_per_s_per_gpu.high,
      point && tokensPerS(point),
      point?.efficiency,
      published?.tokens_per_s_per_gpu,
      published?.efficiency,
      point?.speed_against_reference?.mean,
    ]);
  });
  return { heads, rows: rows.map((row) => row.map((value) => String(value ?? ""))) };
}
