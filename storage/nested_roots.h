// Watched roots inside each other: a run belongs to the innermost one that is watched, whichever
// was watched first. What a root read before another began inside it, or is left of one that nobody
// watches any more, changes its root with its path, and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// Gives `root` the runs that lie below it and belong to roots around it, and all those of roots
// inside it, but for those of `left_out` (absolute paths) and what is inside of those. A log that
// is stored under both stays so. Returns how many runs changed their root. Within a transaction of
// the caller's.
std::int64_t gather_runs(Connection& connection, RootId root,
                         std::span<const std::string> left_out);

}  // namespace llmb::storage
