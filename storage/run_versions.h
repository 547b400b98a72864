// The runs that were launched last, found without reading what they are. All functions run inside a
// read transaction of the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

std::vector<RunVersion> newest_run_versions(Connection& connection, const RunFilter& filter,
                                            std::int64_t limit);

// How that is asked: of all runs that match, where they are no more than that; sorted by launch
// where they are more, as each row of run_tally has them where that holds what they are filtered
// by; or along the order of launches.
enum class NewestWay { all, sorted, walked };

// For whoever wants to know how an engine answers.
std::string newest_sql(const SqlDialect& dialect, const RunFilter& filter, NewestWay way);

}  // namespace llmb::storage
