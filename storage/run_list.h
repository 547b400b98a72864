// Lists of runs and experiments: a RunFilter becomes SQL text made of fixed parts only, and every
// value a bound parameter. All functions run inside a read transaction of the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

// Throws std::invalid_argument for a keyset that is_valid_keyset() refuses.
RunPage list_runs(Connection& connection, const RunQuery& query);

// How list_runs() asks for a page of many runs, walking: for those that have a sort value, and for
// those that have none; where the walk ends, and how long it is. This and the following are for
// whoever wants to know how an engine answers.
std::vector<std::string> walk_sql(const SqlDialect& dialect, const RunQuery& query);
// The same up to an end.
std::vector<std::string> ended_walk_sql(const SqlDialect& dialect, const RunQuery& query,
                                        const RunKeyset& end);
// And where a walk of some thousand runs found too few that match.
std::string sorting_sql(const SqlDialect& dialect, const RunQuery& query);
std::string count_sql(const SqlDialect& dialect, const RunFilter& filter);
std::string experiments_sql(const SqlDialect& dialect, const RunFilter& filter);
std::string latest_mean_sql(const SqlDialect& dialect, const RunFilter& filter);

std::int64_t count_runs(Connection& connection, const RunFilter& filter);

std::vector<ExperimentRecord> list_experiments(Connection& connection, const RunFilter& filter,
                                               std::int64_t limit,
                                               const std::string& after_experiment);

}  // namespace llmb::storage
