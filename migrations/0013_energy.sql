-- The mean energy of a GPU and step that a run's log prints over its window, in joules. Older runs get
-- it when their logs are read anew, as the reader's new version makes them be.
ALTER TABLE run ADD COLUMN energy_j_per_gpu_mean REAL;
