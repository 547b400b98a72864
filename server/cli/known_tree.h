// The tree that a user names, as the database knows it.
#pragma once

#include <string>

#include "storage/database.h"

namespace llmb::cli {

// A watched one is known by its real path, a pushed one by the path that its agent named. `root`
// may be relative to this folder, and gone. Throws CLI::ValidationError where there is no such one.
std::string known_tree(storage::Reader& reader, const std::string& root);

}  // namespace llmb::cli
