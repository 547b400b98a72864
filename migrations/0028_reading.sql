-- By which reading (parser/reader/reading.h) a run was told; 0: by one of before this was kept.
ALTER TABLE run ADD COLUMN reading INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_reading ON run (reading, root_id) WHERE is_superseded = 0 AND vanished_at IS NULL;
