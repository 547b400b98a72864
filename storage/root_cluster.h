// What the runs of a watched tree are said to have run on: the cluster that its root is given, else
// the one that a run's own configuration names.
#pragma once

#include <string>

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// After the root was given `cluster`, or none: empty. Whether a run is of another one than before.
bool move_runs_to_cluster(Connection& connection, RootId root, const std::string& cluster);

}  // namespace llmb::storage
