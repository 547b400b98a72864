-- The runs of each row of run_tally together, in the order in which they began; see
-- migrations/0022_list_indexes.sql. The key of run_tally is its rows' own function, which an
-- index can hold: of the same values it is always the same.
CREATE FUNCTION run_combination(
  is_superseded bigint, root_id bigint, cluster text, workload text, model_size text, dtype text,
  gpu_type text, gpu_count bigint, release text, status text, failure_cause text, marks bigint
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT encode(sha256(convert_to(CAST(json_build_array(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
  ) AS text), 'UTF8')), 'hex')
$$;

CREATE OR REPLACE FUNCTION tally_run() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  old_key text;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    old_key := run_combination(
      OLD.is_superseded, OLD.root_id, OLD.cluster, OLD.workload, OLD.model_size, OLD.dtype,
      OLD.gpu_type, OLD.gpu_count, OLD.release, OLD.status, OLD.failure_cause, OLD.marks);
    UPDATE run_tally SET runs = runs - 1 WHERE key = old_key;
    DELETE FROM run_tally WHERE key = old_key AND runs = 0;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO run_tally VALUES (
      run_combination(
        NEW.is_superseded, NEW.root_id, NEW.cluster, NEW.workload, NEW.model_size, NEW.dtype,
        NEW.gpu_type, NEW.gpu_count, NEW.release, NEW.status, NEW.failure_cause, NEW.marks),
      NEW.is_superseded, NEW.root_id, NEW.cluster, NEW.workload, NEW.model_size, NEW.dtype,
      NEW.gpu_type, NEW.gpu_count, NEW.release, NEW.status, NEW.failure_cause, NEW.marks, 1)
    ON CONFLICT (key) DO UPDATE SET runs = run_tally.runs + 1;
  END IF;
  RETURN NULL;
END
$$;
DROP FUNCTION run_tally_key(run);

CREATE INDEX run_of_combination ON run (
  run_combination(is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type,
    gpu_count, release, status, failure_cause, marks),
  began_at, id
);

-- A text that lists are filtered by is looked for in the paths; where a path does not contain the
-- experiment's name, in that, too.
CREATE INDEX run_named_elsewhere ON run (id) WHERE strpos(relative_path, experiment) = 0;

-- By its trigrams, where the server has the extension and lets this role make it.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX run_text ON run USING gin (lower(relative_path) gin_trgm_ops);
EXCEPTION
  WHEN insufficient_privilege OR feature_not_supported OR undefined_file OR undefined_object THEN
    RAISE NOTICE 'texts are looked for without an index: %', SQLERRM;
END
$$;
