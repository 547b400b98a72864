-- How many runs there are of each combination of what a list filters by, so that the number of all
-- that match costs by the combinations and not by the runs. The triggers keep it, whoever writes.
CREATE TABLE run_tally (
  key TEXT PRIMARY KEY,  -- of the others but the last, any byte and NULL told apart
  is_superseded INTEGER NOT NULL,
  root_id INTEGER NOT NULL,
  cluster TEXT,
  workload TEXT,
  model_size TEXT,
  dtype TEXT,
  gpu_type TEXT,
  gpu_count INTEGER,
  release TEXT,
  status TEXT NOT NULL,
  failure_cause TEXT NOT NULL,
  marks INTEGER NOT NULL,
  runs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO run_tally
  SELECT is_superseded || ',' || root_id || ',' || coalesce(gpu_count, 'NULL') || ',' || marks
    || ',' || quote(CAST(cluster AS BLOB)) || ',' || quote(CAST(workload AS BLOB))
    || ',' || quote(CAST(model_size AS BLOB)) || ',' || quote(CAST(dtype AS BLOB))
    || ',' || quote(CAST(gpu_type AS BLOB)) || ',' || quote(CAST(release AS BLOB))
    || ',' || quote(CAST(status AS BLOB)) || ',' || quote(CAST(failure_cause AS BLOB)),
    is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,
    status, failure_cause, marks,
    count(*)
  FROM run GROUP BY
    is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,
    status, failure_cause, marks;

CREATE TRIGGER run_tally_insert AFTER INSERT ON run BEGIN
  INSERT INTO run_tally VALUES (
    new.is_superseded || ',' || new.root_id || ',' || coalesce(new.gpu_count, 'NULL')
      || ',' || new.marks || ',' || quote(CAST(new.cluster AS BLOB))
      || ',' || quote(CAST(new.workload AS BLOB)) || ',' || quote(CAST(new.model_size AS BLOB))
      || ',' || quote(CAST(new.dtype AS BLOB)) || ',' || quote(CAST(new.gpu_type AS BLOB))
      || ',' || quote(CAST(new.release AS BLOB)) || ',' || quote(CAST(new.status AS BLOB))
      || ',' || quote(CAST(new.failure_cause AS BLOB)),
    new.is_superseded, new.root_id, new.cluster, new.workload, new.model_size, new.dtype,
    new.gpu_type, new.gpu_count, new.release, new.status, new.failure_cause, new.marks, 1)
  ON CONFLICT (key) DO UPDATE SET runs = runs + 1;
END;

CREATE TRIGGER run_tally_delete AFTER DELETE ON run BEGIN
  UPDATE run_tally SET runs = runs - 1 WHERE key =
    old.is_superseded || ',' || old.root_id || ',' || coalesce(old.gpu_count, 'NULL')
    || ',' || old.marks || ',' || quote(CAST(old.cluster AS BLOB))
    || ',' || quote(CAST(old.workload AS BLOB)) || ',' || quote(CAST(old.model_size AS BLOB))
    || ',' || quote(CAST(old.dtype AS BLOB)) || ',' || quote(CAST(old.gpu_type AS BLOB))
    || ',' || quote(CAST(old.release AS BLOB)) || ',' || quote(CAST(old.status AS BLOB))
    || ',' || quote(CAST(old.failure_cause AS BLOB));
  DELETE FROM run_tally WHERE runs = 0 AND key =
    old.is_superseded || ',' || old.root_id || ',' || coalesce(old.gpu_count, 'NULL')
    || ',' || old.marks || ',' || quote(CAST(old.cluster AS BLOB))
    || ',' || quote(CAST(old.workload AS BLOB)) || ',' || quote(CAST(old.model_size AS BLOB))
    || ',' || quote(CAST(old.dtype AS BLOB)) || ',' || quote(CAST(old.gpu_type AS BLOB))
    || ',' || quote(CAST(old.release AS BLOB)) || ',' || quote(CAST(old.status AS BLOB))
    || ',' || quote(CAST(old.failure_cause AS BLOB));
END;

CREATE TRIGGER run_tally_update AFTER UPDATE OF
  is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,
  status, failure_cause, marks
ON run WHEN (
  old.is_superseded, old.root_id, old.cluster, old.workload, old.model_size, old.dtype,
  old.gpu_type, old.gpu_count, old.release, old.status, old.failure_cause, old.marks
) IS NOT (
  new.is_superseded, new.root_id, new.cluster, new.workload, new.model_size, new.dtype,
  new.gpu_type, new.gpu_count, new.release, new.status, new.failure_cause, new.marks
) BEGIN
  UPDATE run_tally SET runs = runs - 1 WHERE key =
    old.is_superseded || ',' || old.root_id || ',' || coalesce(old.gpu_count, 'NULL')
    || ',' || old.marks || ',' || quote(CAST(old.cluster AS BLOB))
    || ',' || quote(CAST(old.workload AS BLOB)) || ',' || quote(CAST(old.model_size AS BLOB))
    || ',' || quote(CAST(old.dtype AS BLOB)) || ',' || quote(CAST(old.gpu_type AS BLOB))
    || ',' || quote(CAST(old.release AS BLOB)) || ',' || quote(CAST(old.status AS BLOB))
    || ',' || quote(CAST(old.failure_cause AS BLOB));
  DELETE FROM run_tally WHERE runs = 0 AND key =
    old.is_superseded || ',' || old.root_id || ',' || coalesce(old.gpu_count, 'NULL')
    || ',' || old.marks || ',' || quote(CAST(old.cluster AS BLOB))
    || ',' || quote(CAST(old.workload AS BLOB)) || ',' || quote(CAST(old.model_size AS BLOB))
    || ',' || quote(CAST(old.dtype AS BLOB)) || ',' || quote(CAST(old.gpu_type AS BLOB))
    || ',' || quote(CAST(old.release AS BLOB)) || ',' || quote(CAST(old.status AS BLOB))
    || ',' || quote(CAST(old.failure_cause AS BLOB));
  INSERT INTO run_tally VALUES (
    new.is_superseded || ',' || new.root_id || ',' || coalesce(new.gpu_count, 'NULL')
      || ',' || new.marks || ',' || quote(CAST(new.cluster AS BLOB))
      || ',' || quote(CAST(new.workload AS BLOB)) || ',' || quote(CAST(new.model_size AS BLOB))
      || ',' || quote(CAST(new.dtype AS BLOB)) || ',' || quote(CAST(new.gpu_type AS BLOB))
      || ',' || quote(CAST(new.release AS BLOB)) || ',' || quote(CAST(new.status AS BLOB))
      || ',' || quote(CAST(new.failure_cause AS BLOB)),
    new.is_superseded, new.root_id, new.cluster, new.workload, new.model_size, new.dtype,
    new.gpu_type, new.gpu_count, new.release, new.status, new.failure_cause, new.marks, 1)
  ON CONFLICT (key) DO UPDATE SET runs = runs + 1;
END;
