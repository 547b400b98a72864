-- A run's configuration as one text; see migrations/0023_run_settings.sql.
CREATE TABLE run_settings (
  run_id bigint PRIMARY KEY REFERENCES run (id),
  settings text COLLATE "C" NOT NULL
);

INSERT INTO run_settings
  SELECT run_id, string_agg('[' || source || ']' || chr(10) || lines, '')
  FROM (
    SELECT run_id, source, string_agg(
      replace(replace(replace(key, '\', '\\'), chr(10), '\n'), '=', '\e') || '='
        || replace(replace(value, '\', '\\'), chr(10), '\n') || chr(10), '') AS lines
    FROM run_configuration GROUP BY run_id, source
  ) AS of_source
  GROUP BY run_id;

DROP TABLE run_configuration;
