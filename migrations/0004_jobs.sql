-- Slurm jobs that were submitted here, and the tokens of those who may submit.

-- A row is written before sbatch is called. submission_id also stands in the job's comment, so that
-- a job whose submission was not recorded to its end is found again.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  submission_id TEXT NOT NULL UNIQUE,
  cluster TEXT NOT NULL,
  -- Slurm's; NULL until known. Slurm uses ids again, so only with submit_time_s (Unix seconds, of
  -- the last submission or requeue) is it a key.
  job_id INTEGER,
  submit_time_s INTEGER,
  revision INTEGER NOT NULL DEFAULT 1,
  state TEXT NOT NULL,
  state_reason TEXT NOT NULL DEFAULT '',
  trouble TEXT NOT NULL DEFAULT '',
  cancel_requested_at TEXT,
  experiment TEXT NOT NULL,
  launch_id TEXT NOT NULL,
  run_folder TEXT NOT NULL,
  submission TEXT NOT NULL,
  submitted_by TEXT NOT NULL,
  restart_count INTEGER NOT NULL DEFAULT 0,
  exit_code INTEGER,
  nodes TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  started_at TEXT,
  ended_at TEXT,
  updated_at TEXT NOT NULL,
  UNIQUE (cluster, job_id, submit_time_s)
) STRICT;
CREATE INDEX job_state ON job (state);

-- A client that repeats a request with its Idempotency-Key gets the jobs of the first one.
CREATE TABLE job_request (
  submitted_by TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  job_ids TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (submitted_by, idempotency_key)
) STRICT, WITHOUT ROWID;

-- Of a token only its SHA-256 is kept.
CREATE TABLE api_token (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  sha256 TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
