// LogCopies: which runs of a list are of a log that lies elsewhere, too, without reading what
// either log holds: by an index of mean step times (of jobs, where a run has no step time), then by
// all that two rows have of two logs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

// A column that tells of a log's head, as Reader::log_ends() has it: of the table's alias `run`.
std::string log_head_sql(std::string_view column, std::string_view run);

// As Reader::likely_copies(). Inside a read transaction of the caller's.
std::vector<LikelyCopy> find_likely_copies(Connection& connection, std::span<const RunId> ids);

// As Reader::runs_that_look_like(). Inside a read transaction of the caller's.
std::vector<RunId> find_runs_that_look_like(Connection& connection, RunId id);

// How the first of these is asked; its one parameter is the list of ids. For whoever wants to know
// how an engine answers.
std::string likely_copies_sql(const SqlDialect& dialect);

}  // namespace llmb::storage
