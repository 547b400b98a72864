-- The steps of runs whose logs have settled, packed: up to 1024 steps of one segment a row, all of them
-- before those that the run has in step_sample. The key ends with the last iteration, so that what
-- holds an iteration or comes behind it is found by one seek.
CREATE TABLE step_chunk (
  run_id INTEGER NOT NULL REFERENCES run (id),
  segment INTEGER NOT NULL,
  first_iteration INTEGER NOT NULL,
  last_iteration INTEGER NOT NULL,
  step_count INTEGER NOT NULL,
  -- the highest of its steps' byte_offset
  last_offset INTEGER NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (run_id, segment, last_iteration)
) STRICT;
