-- Logs that another store told as well as the one whose word their run is (pushed_run), with that
-- store's own numbers: it compares with them, and the text of its log is taken for the run.
CREATE TABLE covered_log (
  run_id INTEGER NOT NULL REFERENCES run (id),
  store_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  step_count INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL,
  PRIMARY KEY (run_id, store_id, generation)
) STRICT, WITHOUT ROWID;
CREATE INDEX covered_log_of_store ON covered_log (store_id, run_id);
