// Which databases another one may be copied into: a new one, and one into which the same one is
// being copied already.
#pragma once

#include <memory>
#include <string>

#include "storage/copy_mark.h"
#include "storage/database.h"
#include "storage/database_engine.h"

namespace llmb::storage {

struct CopyTarget {
  std::unique_ptr<OpenDatabase> database;  // as its writer, marked
  bool was_begun = false;                  // an earlier call has begun the copy
};

// Throws StorageError, with what to do, for any other database, which stays untouched.
CopyTarget open_copy_target(const OpenOptions& options, const CopyMark& mark);

}  // namespace llmb::storage
