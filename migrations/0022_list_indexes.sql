-- run_filter holds the runs of each row of run_tally together, in the order in which they began: the
-- newest of a filter are found without looking at all that match.
DROP INDEX run_filter;
CREATE INDEX run_filter ON run (
  workload, model_size, dtype, gpu_type, gpu_count, release, cluster, status, root_id,
  is_superseded, failure_cause, marks, began_at, id, launched_at, first_seen_at,
  tokens_per_s_per_gpu, mfu_model_flops_reference, speed_against_reference
);

-- With what finds the newest of an experiment, or of a range of figures, without their rows.
DROP INDEX run_experiment;
CREATE INDEX run_experiment ON run (experiment, id, is_superseded, launched_at, first_seen_at);
DROP INDEX run_tokens_per_s_per_gpu;
CREATE INDEX run_tokens_per_s_per_gpu
  ON run (tokens_per_s_per_gpu, id, is_superseded, launched_at, first_seen_at);
DROP INDEX run_mfu_model_flops_reference;
CREATE INDEX run_mfu_model_flops_reference
  ON run (mfu_model_flops_reference, id, is_superseded, launched_at, first_seen_at);
DROP INDEX run_speed_against_reference;
CREATE INDEX run_speed_against_reference
  ON run (speed_against_reference, id, is_superseded, launched_at, first_seen_at);

-- A text that lists are filtered by is looked for in paths and experiments' names: by its trigrams,
-- each of which says which runs have it somewhere. A shorter text is looked for in the paths; where
-- a path does not contain the name, in that, too.
CREATE INDEX run_named_elsewhere ON run (experiment) WHERE instr(relative_path, experiment) = 0;

CREATE VIRTUAL TABLE run_text USING fts5 (
  words, tokenize = 'trigram', detail = none, content = '', columnsize = 0
);

INSERT INTO run_text (rowid, words) SELECT id, relative_path || ' ' || experiment FROM run;

-- Each statement that changes run_text writes a piece of it, whether for one run or for a thousand:
-- what came and went is kept until it is so many, and looked at beside run_text till then. The
-- numbers begin anew once the table is empty.
CREATE TABLE run_text_change (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  words TEXT NOT NULL,
  is_gone INTEGER NOT NULL
) STRICT;

CREATE TRIGGER run_text_insert AFTER INSERT ON run BEGIN
  INSERT INTO run_text_change (run_id, words, is_gone)
    VALUES (new.id, new.relative_path || ' ' || new.experiment, 0);
END;

CREATE TRIGGER run_text_delete AFTER DELETE ON run BEGIN
  INSERT INTO run_text_change (run_id, words, is_gone)
    VALUES (old.id, old.relative_path || ' ' || old.experiment, 1);
END;

CREATE TRIGGER run_text_update AFTER UPDATE OF relative_path, experiment ON run
WHEN (old.relative_path, old.experiment) IS NOT (new.relative_path, new.experiment) BEGIN
  INSERT INTO run_text_change (run_id, words, is_gone)
    VALUES (old.id, old.relative_path || ' ' || old.experiment, 1);
  INSERT INTO run_text_change (run_id, words, is_gone)
    VALUES (new.id, new.relative_path || ' ' || new.experiment, 0);
END;

CREATE TRIGGER run_text_change_insert AFTER INSERT ON run_text_change WHEN new.id >= 1000 BEGIN
  INSERT INTO run_text (run_text, rowid, words)
    SELECT CASE WHEN is_gone THEN 'delete' END, run_id, words FROM run_text_change ORDER BY id;
  DELETE FROM run_text_change;
END;
