-- A statement with a trigger keeps every page that it changes, to undo it alone where it fails. For
-- a new run these are those of 20 indexes, a sixth of the work, while the whole transaction fails
-- with it anyway. So what the triggers did for a new run its writer does in statements of its own
-- (storage/new_run_counts.h); a run that changes or goes has its triggers as before.
DROP TRIGGER run_tally_insert;
DROP TRIGGER run_text_insert;
