// Of which cluster the runs are that name none: what all runs of a tree say of it, and what a
// filter by cluster takes of them.
#pragma once

#include "parser/statistics/tree_clusters.h"
#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

parser::TreeClusters read_tree_clusters(Connection& connection);

// `filter` with what its clusters mean for runs that name none.
RunFilter with_unnamed_runs(Connection& connection, const RunFilter& filter);

}  // namespace llmb::storage
