// What the runs of a tree are said to have run on. Of a watched one: the cluster that its root is
// given, else the one that a run's own configuration names. Of a pushed one: its agents' cluster.
#pragma once

#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// After the root was given `cluster`, or none: empty. Whether a run is of another one than before.
bool move_runs_to_cluster(Connection& connection, RootId root, const std::string& cluster);

// What was pushed as cluster `from` is `to`'s from now on. Of a tree of both that has no runs of
// `to` only what was removed of it stays known. Throws StorageError constraint where it has some.
void rename_pushed_roots(Connection& connection, const std::string& from, const std::string& to);
// Paths of the trees pushed as `from` of which there are runs of `to`.
std::vector<std::string> trees_of_both_clusters(Connection& connection, const std::string& from,
                                                const std::string& to);

}  // namespace llmb::storage
