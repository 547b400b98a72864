-- Logs that another store told, too; see migrations/0025_covered_logs.sql.
CREATE TABLE covered_log (
  run_id bigint NOT NULL REFERENCES run (id),
  store_id text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  revision bigint NOT NULL,
  step_count bigint NOT NULL,
  bytes_read bigint NOT NULL,
  PRIMARY KEY (run_id, store_id, generation)
);
CREATE INDEX covered_log_of_store ON covered_log (store_id, run_id);
