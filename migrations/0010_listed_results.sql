-- What a run's numbers mean by the catalog that judged it, and why it is no result like others: so
-- that the list of runs shows, sorts and filters them without judging a run. Ingest fills them, for
-- older runs when it next starts.
ALTER TABLE run ADD COLUMN tokens_per_s_per_gpu REAL;
ALTER TABLE run ADD COLUMN mfu_model_flops_reference REAL;
ALTER TABLE run ADD COLUMN speed_against_reference REAL;
-- One bit a mark; storage/listed_marks.h numbers them.
ALTER TABLE run ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;
-- Catalog::content_hash of the catalog that these came of; NULL: they are still to be derived.
ALTER TABLE run ADD COLUMN listed_by_catalog INTEGER;
-- What a list sorts by: runs that failed by nothing come last.
ALTER TABLE run ADD COLUMN cause_or_null TEXT
  GENERATED ALWAYS AS (nullif(failure_cause, '')) VIRTUAL;

UPDATE run SET marks = 1
WHERE EXISTS (SELECT 1 FROM run_profile AS p WHERE p.run_id = run.id)
   OR EXISTS (SELECT 1 FROM run_configuration AS c WHERE c.run_id = run.id
              AND c.key = 'profile_enabled' AND c.position = 0 AND lower(c.value) = 'true');

CREATE INDEX run_tokens_per_s_per_gpu ON run (tokens_per_s_per_gpu);
CREATE INDEX run_mfu_model_flops_reference ON run (mfu_model_flops_reference);
CREATE INDEX run_speed_against_reference ON run (speed_against_reference);
CREATE INDEX run_cause_or_null ON run (cause_or_null);

DROP INDEX run_filter;
CREATE INDEX run_filter ON run (
  workload, model_size, dtype, gpu_type, gpu_count, release, cluster, status, root_id,
  launched_at, first_seen_at, is_superseded, failure_cause, marks, tokens_per_s_per_gpu,
  mfu_model_flops_reference, speed_against_reference
);
