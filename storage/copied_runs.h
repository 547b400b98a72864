// CopiedRuns: of the runs that match a filter and have ended, those whose log another of them has,
// too, so that whoever counts runs counts each log once. By what rows and cursors hold of two logs;
// no log and no step is read.
#pragma once

#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

// That a run has ended: it is not running any more, or hangs.
inline constexpr const char* kHasEnded = "(status <> 'running' OR failure_cause <> '')";

// By id. Of runs of one log the first that is complete and has no mark counts, else the first: it
// is not among them. Inside a read transaction of the caller's.
std::vector<RunId> find_copied_runs(Connection& connection, const RunFilter& filter);

// What it asks of more runs than it looks at one by one, for whoever wants to know how an engine
// answers.
std::vector<std::string> copied_runs_sql(const SqlDialect& dialect, const RunFilter& filter);

}  // namespace llmb::storage
