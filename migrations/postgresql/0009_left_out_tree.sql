-- Trees inside each other that several processes watch: of each claimed tree its cluster, and the
-- trees inside it that its writer leaves to others.
ALTER TABLE writer_mark ADD COLUMN cluster text COLLATE "C" NOT NULL DEFAULT '';
CREATE TABLE left_out_tree (
  name text COLLATE "C" NOT NULL REFERENCES writer_mark (name) ON DELETE CASCADE,
  path text COLLATE "C" NOT NULL,
  PRIMARY KEY (name, path)
);
