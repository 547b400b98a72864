-- What a token submits is of "token:NAME": a user of the command line may have that name. Of what is
-- here already it is known by the daemon's sending it; of a request, by its first job.
UPDATE job_request SET submitted_by = 'token:' || submitted_by
  WHERE submitted_by NOT LIKE 'token:%'
    AND (SELECT is_queued FROM job WHERE job.id = CAST(job_request.job_ids AS INTEGER)) = 1;
UPDATE job SET submitted_by = 'token:' || submitted_by
  WHERE is_queued = 1 AND submitted_by NOT LIKE 'token:%';
