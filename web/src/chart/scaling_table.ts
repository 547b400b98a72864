// A scaling series as a table: its columns, its rows, and their numbers for other programs, neither
// rounded nor grouped. Pure.
import type { PublishedPoint, ScalingPoint, ScalingSeries } from "../api/types";
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

export interface ScalingRow {
  gpus: number;
  point: ScalingPoint | null; // null: yet to be measured
  published: PublishedPoint | undefined;
}

// Measured or published, by the number of GPUs.
export function scalingRows({ points, published }: ScalingSeries): ScalingRow[] {
  const counts = [...points, ...published].map((point) => point.gpu_count);
  return [...new Set(counts)]
    .sort((a, b) => a - b)
    .flatMap((gpus) => {
      const measured = points.filter((point) => point.gpu_count === gpus);
      const ofDocument = published.find((point) => point.gpu_count === gpus);
      return (measured.length > 0 ? measured : [null]).map((point) => ({
        gpus,
        point,
        published: ofDocument,
      }));
    });
}

export function tokensPerS({ tokens_per_s_per_gpu: { mean }, gpu_count }: ScalingPoint) {
  return mean === null ? null : mean * gpu_count;
}

// Of an interval both ends have a column.
export function scalingTable(series: ScalingSeries) {
  const heads = scalingHeads(series).flatMap((head) =>
    head === kInterval ? [`${head}, low`, `${head}, high`] : [head],
  );
  const rows = scalingRows(series).map(({ gpus, point, published }) => [
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
  return { heads, rows: rows.map((row) => row.map((value) => String(value ?? ""))) };
}
