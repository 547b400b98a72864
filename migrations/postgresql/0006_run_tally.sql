-- How many runs there are of each combination of what a list filters by; see
-- migrations/0020_run_tally.sql.
CREATE TABLE run_tally (
  key text COLLATE "C" PRIMARY KEY,
  is_superseded bigint NOT NULL,
  root_id bigint NOT NULL,
  cluster text COLLATE "C",
  workload text COLLATE "C",
  model_size text COLLATE "C",
  dtype text COLLATE "C",
  gpu_type text COLLATE "C",
  gpu_count bigint,
  release text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  failure_cause text COLLATE "C" NOT NULL,
  marks bigint NOT NULL,
  runs bigint NOT NULL
);

-- An index takes some thousand bytes, and texts may be longer.
CREATE FUNCTION run_tally_key(r run) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(CAST(json_build_array(
    r.is_superseded, r.root_id, r.cluster, r.workload, r.model_size, r.dtype, r.gpu_type,
    r.gpu_count, r.release, r.status, r.failure_cause, r.marks
  ) AS text), 'UTF8')), 'hex')
$$;

INSERT INTO run_tally
  SELECT key,
    is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,
    status, failure_cause, marks,
    count(*)
  FROM (SELECT run_tally_key(run) AS key,
      is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count,
      release, status, failure_cause, marks
    FROM run) AS runs
  GROUP BY key,
    is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,
    status, failure_cause, marks;

CREATE FUNCTION tally_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE run_tally SET runs = runs - 1 WHERE key = run_tally_key(OLD);
    DELETE FROM run_tally WHERE key = run_tally_key(OLD) AND runs = 0;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO run_tally VALUES (run_tally_key(NEW),
      NEW.is_superseded, NEW.root_id, NEW.cluster, NEW.workload, NEW.model_size, NEW.dtype,
      NEW.gpu_type, NEW.gpu_count, NEW.release, NEW.status, NEW.failure_cause, NEW.marks, 1)
    ON CONFLICT (key) DO UPDATE SET runs = run_tally.runs + 1;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER run_tally_insert_or_delete AFTER INSERT OR DELETE ON run
  FOR EACH ROW EXECUTE FUNCTION tally_run();
CREATE TRIGGER run_tally_update AFTER UPDATE OF
  is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,
  status, failure_cause, marks
ON run FOR EACH ROW WHEN ((
  OLD.is_superseded, OLD.root_id, OLD.cluster, OLD.workload, OLD.model_size, OLD.dtype,
  OLD.gpu_type, OLD.gpu_count, OLD.release, OLD.status, OLD.failure_cause, OLD.marks
) IS DISTINCT FROM (
  NEW.is_superseded, NEW.root_id, NEW.cluster, NEW.workload, NEW.model_size, NEW.dtype,
  NEW.gpu_type, NEW.gpu_count, NEW.release, NEW.status, NEW.failure_cause, NEW.marks
)) EXECUTE FUNCTION tally_run();
