// The way back from a removal: which removed logs could be let in again, and the removal of the
// rows that keep them away. Runs, steps and results are gone for good: what comes again is read
// anew from the logs that are still there. All functions run inside a transaction of the caller's.
#pragma once

#include <cstdint>
#include <span>

#include "storage/database_engine.h"
#include "storage/retention_records.h"

namespace llmb::storage {

// Reads all rows of removed_log, some thousand at a time.
UndoPlan plan_undo(Connection& connection, const UndoFilter& filter);

// Leaves out what is removed no more, and tells whoever knows of the others. Returns how many.
std::int64_t let_in_again(OpenDatabase& database, std::span<const RunId> removed);

}  // namespace llmb::storage
