-- Jobs are recorded first, and given to sbatch by one worker afterwards. What the submission of a
-- job has come to stands in its row, so that nothing is submitted twice and nothing that Slurm took
-- late is overlooked.

-- 1: the daemon calls sbatch; 0: the command line that recorded the job does so.
ALTER TABLE job ADD COLUMN is_queued INTEGER NOT NULL DEFAULT 0;
-- NULL: nobody has called sbatch for this job. Whoever sets it calls sbatch, once.
ALTER TABLE job ADD COLUMN sbatch_called_at TEXT;
-- NULL: sbatch may run still.
ALTER TABLE job ADD COLUMN sbatch_ended_at TEXT;
-- 1: not submitted as far as Slurm has said; sbatch's own answer is not known.
ALTER TABLE job ADD COLUMN is_lost INTEGER NOT NULL DEFAULT 0;
UPDATE job SET sbatch_called_at = created_at;

CREATE INDEX job_by_submitter ON job (submitted_by, created_at);
