-- The schema of a PostgreSQL database, as SQLite's migrations 1 to 15 leave theirs: the same tables,
-- columns and meanings, of which those migrations tell, with what PostgreSQL needs to say the same.
-- Texts are compared by their bytes. Ids are the highest there is and one, as SQLite gives them: two
-- databases of one history have the same, and there is one writing transaction at a time.

CREATE TABLE llmb_report_schema (version bigint NOT NULL);
INSERT INTO llmb_report_schema VALUES (0);

CREATE TABLE root (
  id bigint PRIMARY KEY,
  path text COLLATE "C" NOT NULL,
  cluster text COLLATE "C" NOT NULL DEFAULT '',
  last_scan_at text COLLATE "C",
  last_scan_s double precision,
  files_seen bigint NOT NULL DEFAULT 0,
  error text COLLATE "C" NOT NULL DEFAULT '',
  pushed_from text COLLATE "C" NOT NULL DEFAULT '',
  UNIQUE (pushed_from, path)
);
CREATE FUNCTION next_root_id() RETURNS bigint LANGUAGE sql AS
  'SELECT coalesce(max(id), 0) + 1 FROM root';
ALTER TABLE root ALTER COLUMN id SET DEFAULT next_root_id();

CREATE TABLE run (
  id bigint PRIMARY KEY,
  root_id bigint NOT NULL REFERENCES root (id),
  relative_path text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  is_superseded bigint NOT NULL DEFAULT 0 CHECK (is_superseded IN (0, 1)),
  revision bigint NOT NULL DEFAULT 1,
  first_seen_at text COLLATE "C" NOT NULL,
  grown_at text COLLATE "C" NOT NULL,
  vanished_at text COLLATE "C",
  size_bytes bigint NOT NULL,
  step_count bigint NOT NULL DEFAULT 0,
  experiment text COLLATE "C" NOT NULL,
  launched_at text COLLATE "C",
  launch_id text COLLATE "C",
  account text COLLATE "C",
  job_id bigint,
  retry bigint,
  began_at text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(launched_at, first_seen_at)) STORED,
  workload text COLLATE "C",
  model_size text COLLATE "C",
  dtype text COLLATE "C",
  gpu_type text COLLATE "C",
  gpu_count bigint,
  release text COLLATE "C",
  cluster text COLLATE "C",
  dialect text COLLATE "C" NOT NULL,
  log_declared_last_iteration bigint,
  reported_tflops_per_gpu double precision,
  reported_tflops_per_gpu_is_nan bigint NOT NULL DEFAULT 0,
  nccl_trace_seen bigint NOT NULL,
  bytes_read bigint NOT NULL,
  lines_too_long bigint NOT NULL,
  lines_not_understood bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  status_reason text COLLATE "C" NOT NULL,
  window_first_iteration bigint NOT NULL,
  window_last_iteration bigint NOT NULL,
  segment bigint NOT NULL,
  segment_count bigint NOT NULL,
  window_is_whole bigint NOT NULL,
  iterations_missing_in_window bigint NOT NULL,
  last_iteration bigint,
  declared_last_iteration bigint,
  step_time_s_count bigint,
  step_time_s_mean double precision,
  step_time_s_stddev_population double precision,
  step_time_s_stddev_sample double precision,
  step_time_s_median double precision,
  step_time_s_min double precision,
  step_time_s_max double precision,
  step_time_s_p95 double precision,
  tflops_per_gpu_count bigint,
  tflops_per_gpu_mean double precision,
  tflops_per_gpu_stddev_population double precision,
  tflops_per_gpu_stddev_sample double precision,
  tflops_per_gpu_median double precision,
  tflops_per_gpu_min double precision,
  tflops_per_gpu_max double precision,
  tflops_per_gpu_p95 double precision,
  failure_cause text COLLATE "C" NOT NULL DEFAULT '',
  checkpoint_count bigint NOT NULL DEFAULT 0,
  nccl_lines_torn bigint NOT NULL DEFAULT 0,
  nccl_other_calls bigint NOT NULL DEFAULT 0,
  nccl_other_bytes bigint NOT NULL DEFAULT 0,
  silent_s double precision,
  window_source text COLLATE "C" NOT NULL DEFAULT '',
  logged_global_batch_size bigint,
  is_function_check bigint NOT NULL DEFAULT 0,
  tokens_per_s_per_gpu double precision,
  mfu_model_flops_reference double precision,
  speed_against_reference double precision,
  marks bigint NOT NULL DEFAULT 0,
  listed_by_catalog bigint,
  cause_or_null text COLLATE "C" GENERATED ALWAYS AS (nullif(failure_cause, '')) STORED,
  window_interruptions text COLLATE "C" NOT NULL DEFAULT '',
  printed_tokens_per_s_per_gpu double precision,
  rank_values_left_out bigint NOT NULL DEFAULT 0,
  energy_j_per_gpu_mean double precision,
  UNIQUE (root_id, relative_path, generation)
);
CREATE FUNCTION next_run_id() RETURNS bigint LANGUAGE sql AS
  'SELECT coalesce(max(id), 0) + 1 FROM run';
ALTER TABLE run ALTER COLUMN id SET DEFAULT next_run_id();

CREATE TABLE run_configuration (
  run_id bigint NOT NULL REFERENCES run (id),
  key text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  PRIMARY KEY (run_id, key, position)
);

CREATE TABLE run_segment (
  run_id bigint NOT NULL REFERENCES run (id),
  segment bigint NOT NULL,
  first_iteration bigint NOT NULL,
  last_iteration bigint NOT NULL,
  step_count bigint NOT NULL,
  nan_step_count bigint NOT NULL,
  first_nan_iteration bigint,
  first_offset bigint NOT NULL,
  PRIMARY KEY (run_id, segment)
);

CREATE TABLE run_event (
  run_id bigint NOT NULL REFERENCES run (id),
  position bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  line text COLLATE "C" NOT NULL,
  byte_offset bigint NOT NULL,
  steps_before bigint NOT NULL,
  rank bigint,
  operation text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (run_id, position)
);

CREATE TABLE run_checkpoint (
  run_id bigint NOT NULL REFERENCES run (id),
  position bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  iteration bigint,
  duration_s double precision,
  rank bigint,
  byte_offset bigint NOT NULL,
  PRIMARY KEY (run_id, position)
);

CREATE TABLE run_nccl (
  run_id bigint NOT NULL REFERENCES run (id),
  operation text COLLATE "C" NOT NULL,
  datatype bigint NOT NULL,
  element_count bigint NOT NULL,
  rank_count bigint NOT NULL,
  calls bigint NOT NULL,
  communicator_count bigint NOT NULL,
  communicators_are_complete bigint NOT NULL,
  PRIMARY KEY (run_id, operation, datatype, element_count, rank_count)
);

CREATE TABLE run_rank_measure (
  run_id bigint NOT NULL REFERENCES run (id),
  position bigint NOT NULL,
  source text COLLATE "C" NOT NULL,
  quantity text COLLATE "C" NOT NULL,
  unit text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  rank bigint,
  node text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  value_min double precision,
  value_max double precision,
  value_sum double precision,
  byte_offset bigint NOT NULL,
  is_of_other_ranks bigint NOT NULL,
  PRIMARY KEY (run_id, position)
);

CREATE TABLE run_profile (
  run_id bigint NOT NULL REFERENCES run (id),
  relative_path text COLLATE "C" NOT NULL,
  size_bytes bigint NOT NULL,
  node bigint,
  local_rank bigint,
  process_id bigint,
  PRIMARY KEY (run_id, relative_path)
);

CREATE TABLE log_cursor (
  run_id bigint PRIMARY KEY REFERENCES run (id),
  device bigint NOT NULL,
  inode bigint NOT NULL,
  head_hash bigint NOT NULL,
  head_length bigint NOT NULL,
  tail_hash bigint NOT NULL,
  tail_length bigint NOT NULL,
  byte_offset bigint NOT NULL,
  parser_state text COLLATE "C" NOT NULL
);

CREATE TABLE step_sample (
  run_id bigint NOT NULL REFERENCES run (id),
  segment bigint NOT NULL,
  iteration bigint NOT NULL,
  iteration_is_logged bigint NOT NULL,
  epoch bigint,
  global_step bigint,
  step_time_s double precision,
  step_time_resolution_s double precision,
  tflops_per_gpu double precision,
  loss double precision,
  learning_rate double precision,
  grad_norm double precision,
  params_norm double precision,
  loss_scale double precision,
  consumed_samples bigint,
  global_batch_size bigint,
  skipped_iterations bigint,
  nan_iterations bigint,
  memory_bytes_max double precision,
  memory_bytes_allocated double precision,
  logged_at text COLLATE "C",
  byte_offset bigint NOT NULL,
  nan_fields bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, segment, iteration)
);

CREATE TABLE step_field (
  run_id bigint NOT NULL REFERENCES run (id),
  segment bigint NOT NULL,
  iteration bigint NOT NULL,
  position bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  value double precision,
  PRIMARY KEY (run_id, segment, iteration, position)
);

CREATE TABLE parked_file (
  root_id bigint NOT NULL REFERENCES root (id),
  relative_path text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  parked_at text COLLATE "C" NOT NULL,
  retry_at text COLLATE "C" NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (root_id, relative_path)
);

CREATE TABLE data_revision (
  id bigint PRIMARY KEY CHECK (id = 1),
  revision bigint NOT NULL
);

CREATE TABLE job (
  id bigint PRIMARY KEY,
  submission_id text COLLATE "C" NOT NULL UNIQUE,
  cluster text COLLATE "C" NOT NULL,
  job_id bigint,
  submit_time_s bigint,
  revision bigint NOT NULL DEFAULT 1,
  state text COLLATE "C" NOT NULL,
  state_reason text COLLATE "C" NOT NULL DEFAULT '',
  trouble text COLLATE "C" NOT NULL DEFAULT '',
  cancel_requested_at text COLLATE "C",
  experiment text COLLATE "C" NOT NULL,
  launch_id text COLLATE "C" NOT NULL,
  run_folder text COLLATE "C" NOT NULL,
  submission text COLLATE "C" NOT NULL,
  submitted_by text COLLATE "C" NOT NULL,
  restart_count bigint NOT NULL DEFAULT 0,
  exit_code bigint,
  nodes text COLLATE "C" NOT NULL DEFAULT '',
  created_at text COLLATE "C" NOT NULL,
  started_at text COLLATE "C",
  ended_at text COLLATE "C",
  updated_at text COLLATE "C" NOT NULL,
  is_queued bigint NOT NULL DEFAULT 0,
  sbatch_called_at text COLLATE "C",
  sbatch_ended_at text COLLATE "C",
  is_lost bigint NOT NULL DEFAULT 0,
  UNIQUE (cluster, job_id, submit_time_s)
);
CREATE FUNCTION next_job_id() RETURNS bigint LANGUAGE sql AS
  'SELECT coalesce(max(id), 0) + 1 FROM job';
ALTER TABLE job ALTER COLUMN id SET DEFAULT next_job_id();

CREATE TABLE job_request (
  submitted_by text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  job_ids text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (submitted_by, idempotency_key)
);

CREATE TABLE api_token (
  id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  sha256 text COLLATE "C" NOT NULL UNIQUE,
  scopes text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C" NOT NULL,
  revoked_at text COLLATE "C",
  cluster text COLLATE "C" NOT NULL DEFAULT '',
  former_cluster text COLLATE "C" NOT NULL DEFAULT ''
);
CREATE FUNCTION next_api_token_id() RETURNS bigint LANGUAGE sql AS
  'SELECT coalesce(max(id), 0) + 1 FROM api_token';
ALTER TABLE api_token ALTER COLUMN id SET DEFAULT next_api_token_id();

CREATE TABLE store (
  id bigint PRIMARY KEY CHECK (id = 1),
  store_id text COLLATE "C" NOT NULL
);

CREATE TABLE pushed_run (
  run_id bigint PRIMARY KEY REFERENCES run (id),
  store_id text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  revision bigint NOT NULL,
  head_hash bigint NOT NULL,
  head_length bigint NOT NULL,
  told_at text COLLATE "C" NOT NULL
);

CREATE TABLE push_agent (
  store_id text COLLATE "C" PRIMARY KEY,
  cluster text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  last_seen_at text COLLATE "C" NOT NULL,
  logs_pending bigint NOT NULL,
  pending_since text COLLATE "C"
);

CREATE TABLE push_state (
  run_id bigint PRIMARY KEY REFERENCES run (id),
  server_revision bigint NOT NULL DEFAULT 0,
  server_step_count bigint NOT NULL DEFAULT 0,
  from_segment bigint NOT NULL DEFAULT -1,
  from_iteration bigint NOT NULL DEFAULT 0,
  next_segment bigint NOT NULL DEFAULT -1,
  next_iteration bigint NOT NULL DEFAULT 0,
  is_confirmed bigint NOT NULL DEFAULT 1,
  is_pending bigint NOT NULL DEFAULT 1
);

INSERT INTO data_revision VALUES (1, 0);
INSERT INTO store VALUES (1, replace(CAST(gen_random_uuid() AS text), '-', ''));

-- One for each sort key of the list, each ended by the id.
CREATE INDEX run_began_at ON run (began_at, id);
CREATE INDEX run_grown_at ON run (grown_at, id);
CREATE INDEX run_experiment ON run (experiment, id);
CREATE INDEX run_status ON run (status, id);
CREATE INDEX run_gpu_count ON run (gpu_count, id);
CREATE INDEX run_step_time_s_mean ON run (step_time_s_mean, id);
CREATE INDEX run_step_time_s_stddev_sample ON run (step_time_s_stddev_sample, id);
CREATE INDEX run_step_time_s_median ON run (step_time_s_median, id);
CREATE INDEX run_step_time_s_p95 ON run (step_time_s_p95, id);
CREATE INDEX run_tflops_per_gpu_mean ON run (tflops_per_gpu_mean, id);
CREATE INDEX run_tokens_per_s_per_gpu ON run (tokens_per_s_per_gpu, id);
CREATE INDEX run_mfu_model_flops_reference ON run (mfu_model_flops_reference, id);
CREATE INDEX run_speed_against_reference ON run (speed_against_reference, id);
CREATE INDEX run_cause_or_null ON run (cause_or_null, id);
CREATE INDEX run_last_iteration ON run (last_iteration, id);
CREATE INDEX run_step_count ON run (step_count, id);
CREATE INDEX run_job_id ON run (job_id, id);

-- What lists are filtered by most.
CREATE INDEX run_filter ON run (workload, gpu_type, gpu_count, dtype);
CREATE INDEX job_state ON job (state);
CREATE INDEX job_by_submitter ON job (submitted_by, created_at);
CREATE INDEX job_number ON job (job_id);
CREATE INDEX pushed_run_of_store ON pushed_run (store_id, run_id);
