// A watched tree of which nothing is stored: it was mistyped, or never came.
#pragma once

#include <string>

#include "storage/connection.h"

namespace llmb::storage {

// Forgets it; false where there is no such one. Within a transaction of the caller's.
bool erase_empty_root(Connection& connection, const std::string& path);

}  // namespace llmb::storage
