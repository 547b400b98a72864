-- What a log says beside its steps: the cause of a failure, checkpoints, the collectives of an NCCL
-- trace; and the profiles that lie beside it.

ALTER TABLE run ADD COLUMN failure_cause TEXT NOT NULL DEFAULT '';
-- Over all of the log; run_checkpoint keeps a part of a great many.
ALTER TABLE run ADD COLUMN checkpoint_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN nccl_lines_torn INTEGER NOT NULL DEFAULT 0;
-- Calls that found no room in run_nccl.
ALTER TABLE run ADD COLUMN nccl_other_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN nccl_other_bytes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run_event ADD COLUMN rank INTEGER;
ALTER TABLE run_event ADD COLUMN operation TEXT NOT NULL DEFAULT '';

CREATE TABLE run_checkpoint (
  run_id INTEGER NOT NULL REFERENCES run (id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  iteration INTEGER,
  duration_s REAL,
  rank INTEGER,
  byte_offset INTEGER NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_nccl (
  run_id INTEGER NOT NULL REFERENCES run (id),
  operation TEXT NOT NULL,
  datatype INTEGER NOT NULL,
  element_count INTEGER NOT NULL,
  rank_count INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  communicator_count INTEGER NOT NULL,
  communicators_are_complete INTEGER NOT NULL,
  PRIMARY KEY (run_id, operation, datatype, element_count, rank_count)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_profile (
  run_id INTEGER NOT NULL REFERENCES run (id),
  relative_path TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  node INTEGER,
  local_rank INTEGER,
  process_id INTEGER,
  PRIMARY KEY (run_id, relative_path)
) STRICT, WITHOUT ROWID;
