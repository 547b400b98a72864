// Lists of runs and experiments: a RunFilter becomes SQL text made of fixed parts only, and every
// value a bound parameter. All functions run inside a read transaction of the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/run_query.h"
#include "storage/sqlite_connection.h"

namespace llmb::storage {

// Throws std::invalid_argument for a keyset that is_valid_keyset() refuses.
RunPage list_runs(Connection& connection, const RunQuery& query);

std::int64_t count_runs(Connection& connection, const RunFilter& filter);

std::vector<ExperimentRecord> list_experiments(Connection& connection, const RunFilter& filter,
                                               std::int64_t limit,
                                               const std::string& after_experiment);

}  // namespace llmb::storage
