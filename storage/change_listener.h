// ChangeListener: hears which runs another process has changed, from that process's own commits.
// Each transaction of a writer that raises the data's revision announces it with its runs
// (OpenDatabase::announce), and PostgreSQL sends that to whoever listens, once it is committed.
// Files have no such thing, and neither has a server that follows another one.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "storage/run_change.h"

namespace llmb::storage {

// Not thread-safe.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;

  // The change that was announced next, as soon as one is; nothing where `timeout` passes before,
  // or `wake`, a descriptor, can be read. Throws StorageError where the connection is lost: then
  // nothing more is heard, and something may have been missed.
  virtual std::optional<DataChange> wait(std::chrono::milliseconds timeout, int wake) = 0;
};

// Null where the database cannot tell. Throws StorageError where it cannot be reached. What was
// committed before it returns may not be heard of.
std::unique_ptr<ChangeListener> listen_for_changes(const std::string& place);

}  // namespace llmb::storage
