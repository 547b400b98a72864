-- Logs whose runs were removed on purpose (llmb-report prune, a daemon's `retention`): what tells
-- that a log which still stands is one of them, and is not to be read again until it changes; and of
-- pushed ones what their agents are told. A row goes when its log is gone, or is read again.
CREATE TABLE removed_log (
  -- Of the run that was removed. No other run gets it.
  id INTEGER PRIMARY KEY,
  root_id INTEGER NOT NULL REFERENCES root (id),
  relative_path TEXT NOT NULL,
  generation INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  bytes_read INTEGER NOT NULL,
  -- As log_cursor has them; of a pushed log the head as pushed_run has it.
  inode INTEGER NOT NULL,
  head_hash INTEGER NOT NULL,
  head_length INTEGER NOT NULL,
  tail_hash INTEGER NOT NULL,
  tail_length INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  -- By whose word it was here: the store and its own numbers. Empty: it is watched here.
  store_id TEXT NOT NULL,
  store_generation INTEGER NOT NULL,
  store_revision INTEGER NOT NULL,
  store_step_count INTEGER NOT NULL,
  removed_at TEXT NOT NULL,
  -- What was asked for, in the words of the command.
  policy TEXT NOT NULL
) STRICT;
CREATE INDEX removed_log_of_log ON removed_log (root_id, relative_path);
CREATE INDEX removed_log_of_store ON removed_log (store_id, id);

-- All that was ever removed so. There is no row before the first time.
CREATE TABLE removal_total (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_run_id INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  log_text_bytes INTEGER NOT NULL,
  removed_at TEXT NOT NULL
) STRICT;
