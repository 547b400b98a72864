-- What finds and counts the runs of a filter, and what makes experiments of them, without reading
-- a run's row, which is wide. is_superseded stands at the end: nearly all rows agree in it.
CREATE INDEX run_filter ON run (
  workload, model_size, dtype, gpu_type, gpu_count, release, cluster, status, root_id,
  launched_at, first_seen_at, is_superseded
);
CREATE INDEX run_of_experiment ON run (
  experiment, root_id, grown_at, id, status, step_time_s_mean, is_superseded
);
