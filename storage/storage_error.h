// StorageError: what went wrong, on which file, and what the user can do.
#pragma once

#include <stdexcept>
#include <string>

namespace llmb::storage {

// `kind` is for callers that go on: ingest waits until what keeps it from writing is over, but for
// a constraint, which is the data's fault. `lost`: the file is not the one that was opened.
// `taken_over`: another process writes the tree's runs, or did meanwhile (Writer::claim_root).
class StorageError : public std::runtime_error {
 public:
  enum class Kind {
    busy_elsewhere,
    corrupt,
    newer_schema,
    not_local,
    disk_full,
    lost,
    taken_over,
    io,
    constraint
  };
  StorageError(Kind error_kind, const std::string& message)
      : std::runtime_error(message), kind(error_kind) {}
  Kind kind;
};

}  // namespace llmb::storage
