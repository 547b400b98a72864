// The shapes of agreement, comparison and scaling, as /api/v1 answers with them.
import type { RunStatus, WindowStatistics } from "./types";

export interface ToolResult {
  tool: string;
  release: string;
  source: string;
  metric: string;
  rule: string;
  window: string;
  deviation: "none" | "population" | "sample";
  reads_such_logs: boolean;
  gives_result: boolean;
  reason: string | null;
  is_exact: boolean;
  step_count: number;
  step_time_s_mean: number | null;
  step_time_s_std: number | null;
  tflops_per_gpu_mean: number | null;
  difference_to_ours: number | null;
  why: string;
}

export interface Agreement {
  run_id: number;
  ours: {
    window: string;
    status: RunStatus;
    status_reason: string;
    step_time_s: WindowStatistics | null;
    tflops_per_gpu: WindowStatistics | null;
  };
  tools: ToolResult[];
}

export interface RunMark {
  mark: string;
  reason: string;
}

export interface MeanEstimate {
  run_count: number;
  mean: number | null;
  stddev_sample: number | null;
  low: number | null; // of the 95 % interval; null for one run
  high: number | null;
}

export const kMetrics = ["step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu"] as const;
export type Metric = (typeof kMetrics)[number];

export interface ComparedRun {
  id: number;
  experiment: string;
  job_id: number | null;
  path: string;
  status: RunStatus;
  window: string;
  marks: RunMark[];
  exclusion: string | null; // why it is left out
  group: number | null;
  step_time_s_mean: number | null;
  tokens_per_s_per_gpu: number | null;
  tflops_per_gpu_mean: number | null;
  published: {
    window: string;
    window_source: string;
    step_time_s_mean: number | null;
    speed_against_reference: number | null;
    reason: string | null;
  };
}

export interface RunGroup {
  group: number;
  experiment: string;
  run_ids: number[];
  metrics: Record<Metric, MeanEstimate & { reason: string | null }>;
}

export interface MetricComparison {
  verdict: "faster" | "slower" | "no_difference_shown" | "cannot_be_told" | "not_comparable";
  text: string;
  relative_difference: number | null;
  p_value_adjusted: number | null;
}

export interface GroupComparison {
  group: number;
  baseline: number;
  obstacles: { code: string; text: string; metrics: string[] }[];
  metrics: Record<Metric, MetricComparison>;
}

export interface Comparison {
  method: string;
  confidence: number;
  runs: ComparedRun[];
  groups: RunGroup[];
  differences: { key: string; values: (string | null)[] }[];
  comparisons: GroupComparison[];
}

export interface ScalingPoint {
  gpu_count: number;
  global_batch_size: number | null;
  scaling: string;
  tokens_per_s_per_gpu: MeanEstimate;
  efficiency: number | null;
  efficiency_reason: string | null;
  runs: { id: number; experiment: string; tokens_per_s_per_gpu: number }[];
}

export interface PublishedPoint {
  gpu_count: number;
  global_batch_size: number;
  tokens_per_s_per_gpu: number;
  efficiency: number;
}

export interface LeftOutRun {
  id: number;
  experiment: string;
  job_id: number | null;
  path: string;
  gpu_count: number | null;
  marks: RunMark[];
  reason: string;
}

export interface ScalingSeries {
  workload: string;
  model_size: string;
  dtype: string;
  gpu_type: string;
  scaling: string;
  points: ScalingPoint[];
  left_out: LeftOutRun[];
  document: string | null;
  published: PublishedPoint[];
}

export interface Scaling {
  method: string;
  confidence: number;
  series: ScalingSeries[];
  unplaced: LeftOutRun[];
}
