// A watched tree of which no run is stored: it was mistyped, never came, or went and was removed.
#pragma once

#include <string>

#include "storage/connection.h"

namespace llmb::storage {

// Forgets it, and what was removed of it; false where there is no such one. Within a transaction of
// the caller's.
bool erase_empty_root(Connection& connection, const std::string& path);

}  // namespace llmb::storage
