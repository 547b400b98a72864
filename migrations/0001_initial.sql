-- The first schema: watched roots, runs with their rollup, steps, and how far each log was read.
--
-- Instants are RFC 3339 UTC text. 64-bit unsigned values are stored as the signed integer of the
-- same bits. SQLite turns a NaN into NULL, so where NULL already means "not logged" a column
-- nan_fields holds one bit for each field that is NaN; storage/step_rows.cpp numbers the bits.

CREATE TABLE root (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  cluster TEXT NOT NULL DEFAULT '',
  last_scan_at TEXT,
  last_scan_s REAL,
  files_seen INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT ''
) STRICT;

-- One log in one generation of its file. What lists filter, sort and show stands here, so that a
-- page of runs never reads a step.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  root_id INTEGER NOT NULL REFERENCES root (id),
  relative_path TEXT NOT NULL,
  generation INTEGER NOT NULL,
  is_superseded INTEGER NOT NULL DEFAULT 0 CHECK (is_superseded IN (0, 1)),
  revision INTEGER NOT NULL DEFAULT 1,
  first_seen_at TEXT NOT NULL,
  grown_at TEXT NOT NULL,
  vanished_at TEXT,
  size_bytes INTEGER NOT NULL,
  step_count INTEGER NOT NULL DEFAULT 0,
  -- what the path says
  experiment TEXT NOT NULL,
  launched_at TEXT,
  launch_id TEXT,
  account TEXT,
  job_id INTEGER,
  retry INTEGER,
  began_at TEXT NOT NULL GENERATED ALWAYS AS (coalesce(launched_at, first_seen_at)) VIRTUAL,
  -- the chosen values of run_configuration that lists filter by
  workload TEXT,
  model_size TEXT,
  dtype TEXT,
  gpu_type TEXT,
  gpu_count INTEGER,
  release TEXT,
  cluster TEXT,
  -- what the log says beside its steps
  dialect TEXT NOT NULL,
  log_declared_last_iteration INTEGER,
  reported_tflops_per_gpu REAL,
  reported_tflops_per_gpu_is_nan INTEGER NOT NULL DEFAULT 0,
  nccl_trace_seen INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL,
  lines_too_long INTEGER NOT NULL,
  lines_not_understood INTEGER NOT NULL,
  -- the summary over the run's default window; a NULL count: no statistics
  status TEXT NOT NULL,
  status_reason TEXT NOT NULL,
  window_first_iteration INTEGER NOT NULL,
  window_last_iteration INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  segment_count INTEGER NOT NULL,
  window_is_whole INTEGER NOT NULL,
  iterations_missing_in_window INTEGER NOT NULL,
  last_iteration INTEGER,
  declared_last_iteration INTEGER,
  step_time_s_count INTEGER,
  step_time_s_mean REAL,
  step_time_s_stddev_population REAL,
  step_time_s_stddev_sample REAL,
  step_time_s_median REAL,
  step_time_s_min REAL,
  step_time_s_max REAL,
  step_time_s_p95 REAL,
  tflops_per_gpu_count INTEGER,
  tflops_per_gpu_mean REAL,
  tflops_per_gpu_stddev_population REAL,
  tflops_per_gpu_stddev_sample REAL,
  tflops_per_gpu_median REAL,
  tflops_per_gpu_min REAL,
  tflops_per_gpu_max REAL,
  tflops_per_gpu_p95 REAL,
  UNIQUE (root_id, relative_path, generation)
) STRICT;

-- One for each sort key of the list (the rowid, which is the id, ends every index).
CREATE INDEX run_began_at ON run (began_at);
CREATE INDEX run_grown_at ON run (grown_at);
CREATE INDEX run_experiment ON run (experiment);
CREATE INDEX run_status ON run (status);
CREATE INDEX run_gpu_count ON run (gpu_count);
CREATE INDEX run_step_time_s_mean ON run (step_time_s_mean);
CREATE INDEX run_step_time_s_stddev_sample ON run (step_time_s_stddev_sample);
CREATE INDEX run_step_time_s_median ON run (step_time_s_median);
CREATE INDEX run_step_time_s_p95 ON run (step_time_s_p95);
CREATE INDEX run_tflops_per_gpu_mean ON run (tflops_per_gpu_mean);
CREATE INDEX run_last_iteration ON run (last_iteration);
CREATE INDEX run_step_count ON run (step_count);
CREATE INDEX run_job_id ON run (job_id);

-- Every value that any source gave, best first within a key.
CREATE TABLE run_configuration (
  run_id INTEGER NOT NULL REFERENCES run (id),
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  value TEXT NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (run_id, key, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_segment (
  run_id INTEGER NOT NULL REFERENCES run (id),
  segment INTEGER NOT NULL,
  first_iteration INTEGER NOT NULL,
  last_iteration INTEGER NOT NULL,
  step_count INTEGER NOT NULL,
  nan_step_count INTEGER NOT NULL,
  first_nan_iteration INTEGER,
  first_offset INTEGER NOT NULL,
  PRIMARY KEY (run_id, segment)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_event (
  run_id INTEGER NOT NULL REFERENCES run (id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  cause TEXT NOT NULL,
  line TEXT NOT NULL,
  byte_offset INTEGER NOT NULL,
  steps_before INTEGER NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- Commits together with the samples that reading up to byte_offset produced.
CREATE TABLE log_cursor (
  run_id INTEGER PRIMARY KEY REFERENCES run (id),
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  head_hash INTEGER NOT NULL,
  head_length INTEGER NOT NULL,
  tail_hash INTEGER NOT NULL,
  tail_length INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  parser_state TEXT NOT NULL
) STRICT;

CREATE TABLE step_sample (
  run_id INTEGER NOT NULL REFERENCES run (id),
  segment INTEGER NOT NULL,
  iteration INTEGER NOT NULL,
  iteration_is_logged INTEGER NOT NULL,
  epoch INTEGER,
  global_step INTEGER,
  step_time_s REAL,
  step_time_resolution_s REAL,
  tflops_per_gpu REAL,
  loss REAL,
  learning_rate REAL,
  grad_norm REAL,
  params_norm REAL,
  loss_scale REAL,
  consumed_samples INTEGER,
  global_batch_size INTEGER,
  skipped_iterations INTEGER,
  nan_iterations INTEGER,
  memory_bytes_max REAL,
  memory_bytes_allocated REAL,
  logged_at TEXT,
  byte_offset INTEGER NOT NULL,
  nan_fields INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, segment, iteration)
) STRICT, WITHOUT ROWID;

-- The fields of a line that are no columns of step_sample, in the order of the line. A NULL value
-- is a NaN.
CREATE TABLE step_field (
  run_id INTEGER NOT NULL REFERENCES run (id),
  segment INTEGER NOT NULL,
  iteration INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL,
  PRIMARY KEY (run_id, segment, iteration, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE parked_file (
  root_id INTEGER NOT NULL REFERENCES root (id),
  relative_path TEXT NOT NULL,
  reason TEXT NOT NULL,
  parked_at TEXT NOT NULL,
  retry_at TEXT NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (root_id, relative_path)
) STRICT, WITHOUT ROWID;

-- Rises with every commit that touches a run; what the ETag of any list of runs is made of.
CREATE TABLE data_revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;
INSERT INTO data_revision VALUES (1, 0);
