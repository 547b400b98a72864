-- A run's configuration is one text (storage/settings_text.h) rather than a row for each of some 30
-- values: it is written, read and compared as a whole.
CREATE TABLE run_settings (
  run_id INTEGER PRIMARY KEY REFERENCES run (id),
  settings TEXT NOT NULL
) STRICT;

INSERT INTO run_settings
  SELECT id, (
    SELECT group_concat('[' || source || ']' || char(10) || lines, '')
    FROM (
      SELECT source, group_concat(
        replace(replace(replace(key, '\', '\\'), char(10), '\n'), '=', '\e') || '='
          || replace(replace(value, '\', '\\'), char(10), '\n') || char(10), '') AS lines
      FROM run_configuration WHERE run_id = run.id GROUP BY source
    ))
  FROM run WHERE EXISTS (SELECT 1 FROM run_configuration WHERE run_id = run.id);

DROP TABLE run_configuration;
