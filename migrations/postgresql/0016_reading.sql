-- As migrations/0028_reading.sql does for SQLite.
ALTER TABLE run ADD COLUMN reading bigint NOT NULL DEFAULT 0;
CREATE INDEX run_reading ON run (reading, root_id) WHERE is_superseded = 0 AND vanished_at IS NULL;
