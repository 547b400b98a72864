// The cluster that a user names, as the database knows it: a name that is misspelt fits nothing,
// day after day.
#pragma once

#include <set>
#include <string>

#include "storage/database.h"

namespace llmb::cli {

// Throws CLI::ValidationError where `cluster` is neither a tree's nor one of `others`. `what` is
// there no: "the database has no " + what + " eso; it knows: eos", with a `which` behind the name.
void require_known_cluster(storage::Reader& reader, const std::string& cluster,
                           const std::string& what, const std::string& which = {},
                           std::set<std::string> others = {});

}  // namespace llmb::cli
