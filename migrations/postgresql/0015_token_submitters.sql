-- As migrations/0027_token_submitters.sql does for SQLite.
UPDATE job_request SET submitted_by = 'token:' || submitted_by
  WHERE submitted_by NOT LIKE 'token:%'
    AND (SELECT is_queued FROM job
      WHERE job.id = CAST(nullif(split_part(job_request.job_ids, ' ', 1), '') AS bigint)) = 1;
UPDATE job SET submitted_by = 'token:' || submitted_by
  WHERE is_queued = 1 AND submitted_by NOT LIKE 'token:%';
