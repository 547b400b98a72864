// `llmb-report prune --undo`: lets logs in again whose runs were removed on purpose.
#pragma once

#include <string>

#include "server/cli/retention_filters.h"
#include "storage/database.h"

namespace llmb::cli {

struct UndoArguments {
  RetentionFilters filters;
  std::string removed_since;
  bool is_meant = false;  // else it is only shown
};

// Returns the exit code. Throws CLI::ValidationError and StorageError.
int undo_prune(const storage::OpenOptions& database, const UndoArguments& arguments);

}  // namespace llmb::cli
