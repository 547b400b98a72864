// What a retention policy would remove, as far as reading tells; and whether a log still fits it.
// All functions run inside a transaction of the caller's.
#pragma once

#include <optional>
#include <string>

#include "storage/connection.h"
#include "storage/retention_records.h"

namespace llmb::storage {

// Reads the rows of all runs, some thousand at a time.
RemovalPlan plan_removal(Connection& connection, const RetentionPolicy& policy,
                         parser::Instant now);

struct LogName {
  RootId root = 0;
  std::string relative_path;
};
// The log whose newest run that is; nothing: it is so no more, or the log does not fit.
std::optional<LogName> fitting_log(Connection& connection, const RetentionPolicy& policy,
                                   RunId newest, parser::Instant now);

}  // namespace llmb::storage
