// The shapes that /api/v1 answers with. Names are the server's own, so that one name survives
// from the log to the page; null means "not known".

export type RunStatus = "running" | "complete" | "incomplete" | "failed" | "invalid" | "no_data";

export interface Run {
  id: number;
  root_id: number;
  root: string | null;
  relative_path: string;
  generation: number;
  is_superseded: boolean;
  revision: number;
  experiment: string; // empty where the path names none
  launched_at: string | null;
  launch_id: string | null;
  account: string | null;
  job_id: number | null;
  retry: number | null;
  first_seen_at: string;
  grown_at: string;
  vanished_at: string | null; // the file is gone, its steps are kept
  size_bytes: number;
  workload: string | null;
  model_size: string | null;
  dtype: string | null;
  gpu_type: string | null;
  gpu_count: number | null;
  release: string | null;
  cluster: string | null;
  dialect: string;
  status: RunStatus;
  status_reason: string;
  failure_cause: string | null;
  silent_s: number | null; // of a hung run: how long its log had been silent when that was found
  window: string;
  window_source: string | null;
  window_is_whole: boolean;
  iterations_missing_in_window: number;
  segment: number;
  segment_count: number;
  last_iteration: number | null;
  declared_last_iteration: number | null;
  step_count: number;
  step_time_s_mean: number | null;
  step_time_s_stddev_sample: number | null;
  tflops_per_gpu_mean: number | null;
  tflops_per_gpu_stddev_sample: number | null;
}

export interface RunList {
  runs: Run[];
  next_cursor: string | null;
  total: number;
}

export interface SourcedValue {
  value: string;
  source: string;
}

export interface ConfigurationEntry extends SourcedValue {
  key: string;
  alternatives: SourcedValue[];
}

export interface Segment {
  segment: number;
  first_iteration: number;
  last_iteration: number;
  step_count: number;
  nan_step_count: number;
}

export interface LogEvent {
  kind: "failure" | "finish_marker";
  cause: string;
  line: string;
  offset: number;
  steps_before: number;
}

export interface RunDetail extends Run {
  configuration: ConfigurationEntry[];
  configuration_conflicts: string[];
  segments: Segment[];
  events: LogEvent[];
  reported_tflops_per_gpu: number | null;
  nccl_trace_seen: boolean;
  lines_too_long: number;
  lines_not_understood: number;
  bytes_read: number;
}

export type Column = (number | null)[];

// Columns of equal length. One that is null throughout is left out by the server.
export interface Steps {
  run_id: number;
  segment: number[];
  iteration: number[];
  step_time_s: Column;
  tflops_per_gpu: Column;
  loss?: Column;
  learning_rate?: Column;
  grad_norm?: Column;
  global_batch_size?: Column;
  memory_bytes_max?: Column;
}

export interface WindowStatistics {
  count: number;
  mean: number;
  stddev_population: number;
  stddev_sample: number;
  median: number;
  min: number;
  max: number;
  p95: number;
}

export interface RunStatistics {
  run_id: number;
  window: string;
  window_numbering: string;
  status: RunStatus;
  status_reason: string;
  window_is_whole: boolean;
  iterations_missing_in_window: number;
  segment: number;
  step_time_s: WindowStatistics | null;
  tflops_per_gpu: WindowStatistics | null;
}

export interface Root {
  id: number;
  path: string;
  cluster: string | null;
  last_scan_at: string | null;
  last_scan_s: number | null;
  files_seen: number;
  error: string | null;
}

export interface RootList {
  roots: Root[];
  parked_files: { root_id: number; relative_path: string; reason: string }[];
}

export interface ServiceStatus {
  first_scan_done: boolean;
  files_seen: number;
  files_pending: number;
  files_parked: number;
  halted_reason: string | null;
  root_errors: string[];
  version: string;
}

export interface RunChange {
  run_id: number;
  kind: "added" | "grown" | "status" | "superseded";
}
