-- Runs that agents on other clusters push here; and, in an agent's database, how much of it the
-- server has.

-- Names this database to the servers that it is pushed to.
CREATE TABLE store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store_id TEXT NOT NULL
) STRICT;
INSERT INTO store VALUES (1, lower(hex(randomblob(16))));

-- Whose runs a token of the scope `ingest` may write, and the name that the cluster had before.
ALTER TABLE api_token ADD COLUMN cluster TEXT NOT NULL DEFAULT '';
ALTER TABLE api_token ADD COLUMN former_cluster TEXT NOT NULL DEFAULT '';

-- Two clusters may have trees of one path. pushed_from: the cluster whose agents push the tree;
-- empty: it is watched here.
CREATE TABLE new_root (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  cluster TEXT NOT NULL DEFAULT '',
  last_scan_at TEXT,
  last_scan_s REAL,
  files_seen INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  pushed_from TEXT NOT NULL DEFAULT '',
  UNIQUE (pushed_from, path)
) STRICT;
INSERT INTO new_root (id, path, cluster, last_scan_at, last_scan_s, files_seen, error)
  SELECT id, path, cluster, last_scan_at, last_scan_s, files_seen, error FROM root;
DROP TABLE root;
ALTER TABLE new_root RENAME TO root;

-- Whose word a pushed run is: generation and revision are that store's own numbers.
CREATE TABLE pushed_run (
  run_id INTEGER PRIMARY KEY REFERENCES run (id),
  store_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  head_hash INTEGER NOT NULL,
  head_length INTEGER NOT NULL,
  told_at TEXT NOT NULL
) STRICT;
CREATE INDEX pushed_run_of_store ON pushed_run (store_id, run_id);

-- The agents that push here, as they spoke last.
CREATE TABLE push_agent (
  store_id TEXT PRIMARY KEY,
  cluster TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  logs_pending INTEGER NOT NULL,
  pending_since TEXT
) STRICT, WITHOUT ROWID;

-- In an agent's database: what the server has of a run. Steps from (from_segment, from_iteration)
-- on are still to be sent, -1 being all of them; `next`: those that changed since sending began.
CREATE TABLE push_state (
  run_id INTEGER PRIMARY KEY REFERENCES run (id),
  server_revision INTEGER NOT NULL DEFAULT 0,
  server_step_count INTEGER NOT NULL DEFAULT 0,
  from_segment INTEGER NOT NULL DEFAULT -1,
  from_iteration INTEGER NOT NULL DEFAULT 0,
  next_segment INTEGER NOT NULL DEFAULT -1,
  next_iteration INTEGER NOT NULL DEFAULT 0,
  is_confirmed INTEGER NOT NULL DEFAULT 1
) STRICT;
