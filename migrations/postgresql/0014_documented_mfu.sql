-- As migrations/0026_documented_mfu.sql does for SQLite.
ALTER TABLE run RENAME COLUMN mfu_model_flops_reference TO mfu;
ALTER INDEX run_mfu_model_flops_reference RENAME TO run_mfu;
