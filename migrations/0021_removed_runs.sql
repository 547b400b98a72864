-- What an address of a run answers after the run was removed on purpose: a row for each such run, for
-- good, since no other run gets its id.
CREATE TABLE removed_run (
  id INTEGER PRIMARY KEY,
  removed_at TEXT NOT NULL,
  -- What was asked for, in the words of the command.
  policy TEXT NOT NULL
) STRICT;

INSERT INTO removed_run SELECT id, removed_at, policy FROM removed_log;
