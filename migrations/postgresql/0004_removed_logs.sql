-- Logs whose runs were removed on purpose; see migrations/0018_removed_logs.sql.
CREATE TABLE removed_log (
  id bigint PRIMARY KEY,
  root_id bigint NOT NULL REFERENCES root (id),
  relative_path text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  size_bytes bigint NOT NULL,
  bytes_read bigint NOT NULL,
  inode bigint NOT NULL,
  head_hash bigint NOT NULL,
  head_length bigint NOT NULL,
  tail_hash bigint NOT NULL,
  tail_length bigint NOT NULL,
  byte_offset bigint NOT NULL,
  store_id text COLLATE "C" NOT NULL,
  store_generation bigint NOT NULL,
  store_revision bigint NOT NULL,
  store_step_count bigint NOT NULL,
  removed_at text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL
);
CREATE INDEX removed_log_of_log ON removed_log (root_id, relative_path);
CREATE INDEX removed_log_of_store ON removed_log (store_id, id);

CREATE TABLE removal_total (
  id bigint PRIMARY KEY CHECK (id = 1),
  last_run_id bigint NOT NULL,
  runs bigint NOT NULL,
  steps bigint NOT NULL,
  log_text_bytes bigint NOT NULL,
  removed_at text COLLATE "C" NOT NULL
);
