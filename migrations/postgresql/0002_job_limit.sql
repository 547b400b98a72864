-- When a running job's time limit ends it, as Slurm says.
ALTER TABLE job ADD COLUMN limit_ends_at text COLLATE "C";
