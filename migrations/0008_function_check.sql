-- A run that loaded a checkpoint and did one step shows that loading works, and nothing of speed.
ALTER TABLE run ADD COLUMN is_function_check INTEGER NOT NULL DEFAULT 0;

UPDATE run SET is_function_check = 1
WHERE last_iteration >= declared_last_iteration
  AND EXISTS (SELECT 1 FROM run_checkpoint AS checkpoint
              WHERE checkpoint.run_id = run.id AND checkpoint.kind = 'load')
  AND (SELECT part.step_count FROM run_segment AS part
       WHERE part.run_id = run.id AND part.segment = run.segment) = 1;

-- A deviation of one step is no number.
UPDATE run SET step_time_s_stddev_population = NULL, step_time_s_stddev_sample = NULL
WHERE step_time_s_count = 1;
UPDATE run SET tflops_per_gpu_stddev_population = NULL, tflops_per_gpu_stddev_sample = NULL
WHERE tflops_per_gpu_count = 1;
