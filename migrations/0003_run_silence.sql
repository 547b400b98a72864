-- How long a hung run's log had been silent, in seconds, when that was found.
ALTER TABLE run ADD COLUMN silent_s REAL;
