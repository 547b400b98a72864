-- With what finds the newest of an experiment, of a range of figures, or since a time, without
-- their rows, as migrations/0022_list_indexes.sql does for SQLite.
DROP INDEX run_experiment;
CREATE INDEX run_experiment ON run (experiment, id)
  INCLUDE (is_superseded, launched_at, first_seen_at);
DROP INDEX run_began_at;
CREATE INDEX run_began_at ON run (began_at, id)
  INCLUDE (is_superseded, launched_at, first_seen_at);
DROP INDEX run_tokens_per_s_per_gpu;
CREATE INDEX run_tokens_per_s_per_gpu ON run (tokens_per_s_per_gpu, id)
  INCLUDE (is_superseded, launched_at, first_seen_at);
DROP INDEX run_mfu_model_flops_reference;
CREATE INDEX run_mfu_model_flops_reference ON run (mfu_model_flops_reference, id)
  INCLUDE (is_superseded, launched_at, first_seen_at);
DROP INDEX run_speed_against_reference;
CREATE INDEX run_speed_against_reference ON run (speed_against_reference, id)
  INCLUDE (is_superseded, launched_at, first_seen_at);
