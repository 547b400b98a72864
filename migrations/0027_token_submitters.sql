-- What a token submits is of "token:NAME": a user of the command line may have that name. Of what is
-- here already it is known by the daemon's sending it.
UPDATE job_request SET submitted_by = 'token:' || submitted_by
  WHERE EXISTS (SELECT 1 FROM job WHERE job.is_queued = 1
    AND job.submitted_by = job_request.submitted_by
    AND ' ' || job_request.job_ids || ' ' LIKE '% ' || job.id || ' %');
UPDATE job SET submitted_by = 'token:' || submitted_by WHERE is_queued = 1;
