// The older generations of a log that was rewritten: which are kept, and their removal.
#pragma once

#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/records.h"
#include "storage/run_change.h"

namespace llmb::storage {

// A log that is written anew in a loop would otherwise fill the database.
inline constexpr int kSupersededKept = 3;

// Removes the superseded runs of a log, with all their rows, but for the newest kSupersededKept
// that have a step, and the one that was just written; adds to `changes` which they were. Nothing
// else is kept of them, for the same reason. Within a transaction of the caller's.
void thin_generations(Connection& connection, RootId root, const std::string& relative_path,
                      RunId written, std::vector<RunChange>& changes);

}  // namespace llmb::storage
