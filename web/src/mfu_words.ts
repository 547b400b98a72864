// A run's MFU by the ways that its document does not take, in words. Pure.
import type { Metric, RunMetrics } from "./api/types";
import { formatPercent } from "./format";

// "41.2 % by the logged TFLOPS": of each way that has a value, and another one than is shown.
export function otherMfu(derived: RunMetrics["metrics"]): string {
  const shown = formatPercent(derived.mfu.value);
  const ways: [Metric, string][] = [
    [derived.mfu_model_flops_reference, "by model FLOPs"],
    [derived.mfu_tflops_per_gpu, "by the logged TFLOPS"],
    [derived.mfu_causal, "with attention counted half"],
  ];
  return ways
    .filter(([way]) => way.value !== null && formatPercent(way.value) !== shown)
    .map(([way, words]) => `${formatPercent(way.value)} ${words}`)
    .join(", ");
}
