// What the user says of the logs that are to go, on the command line or in the configuration, and
// the policy that follows from it.
#pragma once

#include <optional>
#include <string>

#include "parser/result.h"
#include "storage/retention_records.h"

namespace llmb::cli {

struct RetentionFilters {
  std::string older_than;  // 400d, 8w, 2y, or a date; of the last growth
  std::string cluster;
  std::string root;
  bool gone = false;
  bool log_text = false;
};

// Fails where no filter is set (log_text is none), and where an age cannot be read.
parser::Result<storage::RetentionPolicy> policy_of(const RetentionFilters& filters,
                                                   parser::Instant now);

// Of logs that were removed, those that are to be let in again; `removed_since` is an age or a
// date, or empty. Fails where no filter is set, where an age cannot be read, and where a filter
// asks what is not kept of a removed log.
parser::Result<storage::UndoFilter> undo_filter_of(const RetentionFilters& filters,
                                                   const std::string& removed_since,
                                                   parser::Instant now);

}  // namespace llmb::cli
