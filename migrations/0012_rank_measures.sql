-- What a log's own instruments say of its ranks: straggler detectors, timers over all ranks, sniff
-- tests. Older runs get theirs when their logs are read anew, as the reader's new version makes them
-- be.

-- Values that found no room in run_rank_measure.
ALTER TABLE run ADD COLUMN rank_values_left_out INTEGER NOT NULL DEFAULT 0;

CREATE TABLE run_rank_measure (
  run_id INTEGER NOT NULL REFERENCES run (id),
  position INTEGER NOT NULL,
  source TEXT NOT NULL,
  quantity TEXT NOT NULL,
  unit TEXT NOT NULL,
  place TEXT NOT NULL,
  rank INTEGER,
  node TEXT NOT NULL,
  count INTEGER NOT NULL,
  -- NULL: ranks were named without a value
  value_min REAL,
  value_max REAL,
  value_sum REAL,
  byte_offset INTEGER NOT NULL,
  is_of_other_ranks INTEGER NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
