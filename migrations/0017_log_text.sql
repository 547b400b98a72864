-- The text of pushed logs, from agents that send it (ingest --push-logs): blocks of 256 KiB, of which
-- the last one of a log is shorter, each as zstd. Of a long log the middle is not kept.
CREATE TABLE log_text (
  run_id INTEGER NOT NULL REFERENCES run (id),
  first_byte INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (run_id, first_byte)
) STRICT;

-- In an agent's database: how much of a run's text the server has. is_text_pending = 1: there may be
-- more to send.
ALTER TABLE push_state ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE push_state ADD COLUMN is_text_pending INTEGER NOT NULL DEFAULT 1;
CREATE INDEX push_state_text_pending ON push_state (run_id) WHERE is_text_pending = 1;

DROP TRIGGER run_revision_is_pending;
CREATE TRIGGER run_revision_is_pending AFTER UPDATE OF revision ON run BEGIN
  UPDATE push_state SET is_pending = 1, is_text_pending = 1
    WHERE run_id = new.id AND (is_pending = 0 OR is_text_pending = 0);
END;
