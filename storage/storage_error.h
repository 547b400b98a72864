// StorageError: what went wrong, on which file, and what the user can do.
#pragma once

#include <stdexcept>
#include <string>

namespace llmb::storage {

// `kind` is for those who go on: ingest waits out disk_full, the others end the operation.
class StorageError : public std::runtime_error {
 public:
  enum class Kind { busy_elsewhere, corrupt, newer_schema, not_local, disk_full, io, constraint };
  StorageError(Kind error_kind, const std::string& message)
      : std::runtime_error(message), kind(error_kind) {}
  Kind kind;
};

}  // namespace llmb::storage
