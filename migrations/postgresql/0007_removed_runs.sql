-- Runs that were removed on purpose; see migrations/0021_removed_runs.sql.
CREATE TABLE removed_run (
  id bigint PRIMARY KEY,
  removed_at text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL
);

INSERT INTO removed_run SELECT id, removed_at, policy FROM removed_log;
