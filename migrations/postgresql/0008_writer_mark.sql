-- Several processes write into one database, each the runs of its own trees: the data's revision that
-- each committed last, by which it knows whether what it wrote is all there and nobody else has
-- written there since. PostgreSQL's alone: a file has one writer.
CREATE TABLE writer_mark (
  -- "root " and the tree's path, or "writer " and a random id of who writes what belongs to no tree
  name text COLLATE "C" PRIMARY KEY,
  holder text COLLATE "C" NOT NULL,
  last_revision bigint NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now()
);
