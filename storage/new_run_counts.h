// What stands in other tables of new runs, for lists: which combination each is of (run_tally), and
// that its text is to be found (run_text_change). PostgreSQL's triggers write it; SQLite's only
// where a run changes or goes, see migrations/0024_counted_inserts.sql.
#pragma once

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// Whoever inserts into `run` calls it once for each, in the same transaction. All runs from `first`
// to `last` are new ones.
void count_new_runs(Connection& connection, RunId first, RunId last);

}  // namespace llmb::storage
