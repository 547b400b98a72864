// The rows of covered_log: which stores told a log beside the one whose word its run is. Each is
// held to have told it, so that it does so once and may send the log's text. All functions run
// inside a transaction of the caller's.
#pragma once

#include <string>

#include "storage/connection.h"
#include "storage/push_records.h"

namespace llmb::storage {

// `run` says what the store's telling says, or more.
void keep_covered_log(Connection& connection, RunId run, const std::string& store_id,
                      const LogTelling& log);
// The run of that log is the store's own word by now, or another run than `run` covers it.
void forget_covered_log(Connection& connection, RunId run, const std::string& store_id,
                        std::int64_t generation);
// The store says no more.
void erase_covered_logs_of(Connection& connection, const std::string& store_id);

}  // namespace llmb::storage
