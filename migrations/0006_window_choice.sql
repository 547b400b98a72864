-- Why a run's window is its window (empty: not known; ingest says it when it next looks at the log),
-- and what the log says of its batch, so that neither lists nor comparisons read steps for them:
-- the batch that every one of the log's first 45 iterations with one prints.
ALTER TABLE run ADD COLUMN window_source TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN logged_global_batch_size INTEGER;

UPDATE run SET logged_global_batch_size = (
  SELECT CASE WHEN min(step.global_batch_size) = max(step.global_batch_size)
         THEN min(step.global_batch_size) END
  FROM step_sample AS step
  WHERE step.run_id = run.id
    AND step.iteration - coalesce(
      (SELECT first.first_iteration FROM run_segment AS first
       WHERE first.run_id = run.id AND first.segment = 0), 0) BETWEEN 0 AND 44
);
