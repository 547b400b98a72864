-- What touches which iterations of a run's window: "checkpoint: 20; evaluation: 30"; and the mean of
-- the tokens per second and GPU that its log prints. Older runs get both when their logs are read
-- anew, as the reader's new version makes them be.
ALTER TABLE run ADD COLUMN window_interruptions TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN printed_tokens_per_s_per_gpu REAL;
