-- The text of pushed logs, from agents that send it (ingest --push-logs): blocks of 256 KiB, of which
-- the last one of a log is shorter, each as zstd. Of a long log the middle is not kept.
CREATE TABLE log_text (
  run_id bigint NOT NULL REFERENCES run (id),
  first_byte bigint NOT NULL,
  byte_count bigint NOT NULL,
  packed bytea NOT NULL,
  PRIMARY KEY (run_id, first_byte)
);
-- They are packed already.
ALTER TABLE log_text ALTER COLUMN packed SET STORAGE EXTERNAL;

ALTER TABLE push_state ADD COLUMN text_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE push_state ADD COLUMN is_text_pending bigint NOT NULL DEFAULT 1;
