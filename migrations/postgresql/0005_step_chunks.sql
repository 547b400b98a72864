-- The steps of runs whose logs have settled, packed: up to 1024 steps of one segment a row, all of them
-- before those that the run has in step_sample. The key ends with the last iteration, so that what
-- holds an iteration or comes behind it is found by one seek.
CREATE TABLE step_chunk (
  run_id bigint NOT NULL REFERENCES run (id),
  segment bigint NOT NULL,
  first_iteration bigint NOT NULL,
  last_iteration bigint NOT NULL,
  step_count bigint NOT NULL,
  -- the highest of its steps' byte_offset
  last_offset bigint NOT NULL,
  packed bytea NOT NULL,
  PRIMARY KEY (run_id, segment, last_iteration)
);
-- They are packed already.
ALTER TABLE step_chunk ALTER COLUMN packed SET STORAGE EXTERNAL;
