// What ended the runs that match a filter, counted. Runs inside a read transaction of the caller's.
#pragma once

#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/failure_records.h"
#include "storage/run_query.h"

namespace llmb::storage {

FailureCounts count_failures(Connection& connection, const RunFilter& filter);

// All that it asks of runs, for whoever wants to know how an engine answers.
std::vector<std::string> failures_sql(const SqlDialect& dialect, const RunFilter& filter);

}  // namespace llmb::storage
