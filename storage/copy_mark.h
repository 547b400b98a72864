// The mark of a database that another one is being copied into: a table that stands there until the
// copy is whole, so that nobody takes the half for all of it. See database_copy.h.
#pragma once

#include <optional>
#include <string>

#include "storage/connection.h"

namespace llmb::storage {

struct CopyMark {
  std::string from_place;     // as shown_place() gives it
  std::string from_store_id;  // of the database that is copied
};

std::optional<CopyMark> read_copy_mark(Connection& connection);

// Both inside a transaction of the caller's.
void write_copy_mark(Connection& connection, const CopyMark& mark);
void remove_copy_mark(Connection& connection);

// Throws StorageError, with how to go on, where the database has a mark.
void refuse_half_copied(Connection& connection);

}  // namespace llmb::storage
