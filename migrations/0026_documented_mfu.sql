-- The MFU of a run in lists is the one of the run's own document, as in its metrics and in what
-- `parse` prints; ingest derives those of older runs anew when it next starts.
ALTER TABLE run RENAME COLUMN mfu_model_flops_reference TO mfu;
DROP INDEX run_mfu_model_flops_reference;
CREATE INDEX run_mfu ON run (mfu, id, is_superseded, launched_at, first_seen_at);
