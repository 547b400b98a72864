// The steps that stand in rows though their logs have settled: those of databases that an earlier
// version wrote, and those of logs that ended while nobody looked.
#pragma once

#include <cstdint>
#include <functional>

#include "storage/database_engine.h"

namespace llmb::storage {

// Packs them (step_rows.h), in transactions of few runs each, so that whoever was killed goes on
// where it was. `progress`, where there is one, is told after each of how many runs that was so
// far.
void pack_old_steps(OpenDatabase& database, const std::function<void(std::int64_t)>& progress);

}  // namespace llmb::storage
