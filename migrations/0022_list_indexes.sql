-- run_filter holds the runs of each row of run_tally together, in the order in which they began: the
-- newest of a filter are found without looking at all that match.
DROP INDEX run_filter;
CREATE INDEX run_filter ON run (
  workload, model_size, dtype, gpu_type, gpu_count, release, cluster, status, root_id,
  is_superseded, failure_cause, marks, began_at, id, launched_at, first_seen_at,
  tokens_per_s_per_gpu, mfu_model_flops_reference, speed_against_reference
);

-- A text that lists are filtered by is looked for in paths and experiments' names. Where a path
-- contains the name, looking at the path is enough.
CREATE INDEX run_named_elsewhere ON run (experiment) WHERE instr(relative_path, experiment) = 0;
