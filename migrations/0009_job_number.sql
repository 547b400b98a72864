-- Ingest asks for the job of a log by its number, with every look at a log that grows.
CREATE INDEX job_number ON job (job_id);
