-- Which runs an agent has still to push, so that finding them costs by what changed and not by what
-- is there. 1: the server lacks something of the run, or may lack it until the next comparison.
ALTER TABLE push_state ADD COLUMN is_pending INTEGER NOT NULL DEFAULT 1;
CREATE INDEX push_state_pending ON push_state (run_id) WHERE is_pending = 1;

-- Whoever raises a run's revision.
CREATE TRIGGER run_revision_is_pending AFTER UPDATE OF revision ON run BEGIN
  UPDATE push_state SET is_pending = 1 WHERE run_id = new.id AND is_pending = 0;
END;

-- Where runs are pushed, each has its row from here on; the next ones get theirs in turn.
INSERT INTO push_state (run_id)
  SELECT run.id FROM run JOIN root ON root.id = run.root_id
  WHERE root.pushed_from = '' AND run.id < (SELECT max(run_id) FROM push_state)
    AND run.id NOT IN (SELECT run_id FROM push_state);
