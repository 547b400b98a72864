-- As migrations/0027_token_submitters.sql does for SQLite.
UPDATE job_request SET submitted_by = 'token:' || submitted_by
  WHERE EXISTS (SELECT 1 FROM job WHERE job.is_queued = 1
    AND job.submitted_by = job_request.submitted_by
    AND ' ' || job_request.job_ids || ' ' LIKE '% ' || job.id || ' %');
UPDATE job SET submitted_by = 'token:' || submitted_by WHERE is_queued = 1;
