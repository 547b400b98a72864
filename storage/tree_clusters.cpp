#include "storage/tree_clusters.h"

namespace llmb::storage {
namespace {

// Where every root has a name, each run has one: a server that takes what agents push reads no
// more than the roots.
bool has_unnamed_root(Connection& connection) {
  Statement& select = connection.kept("SELECT 1 FROM root WHERE cluster = '' LIMIT 1");
  const bool is_there = select.step();
  select.reset();
  return is_there;
}

}  // namespace

parser::TreeClusters read_tree_clusters(Connection& connection) {
  parser::TreeClusters trees;
  if (!has_unnamed_root(connection)) return trees;
  Statement& select = connection.kept(
      "SELECT DISTINCT root_id, cluster FROM run_tally WHERE cluster IS NOT NULL AND runs > 0");
  while (select.step()) {
    const RootId root = select.read_integer();
    trees.learn(root, select.read_text());
  }
  return trees;
}

RunFilter with_unnamed_runs(Connection& connection, const RunFilter& filter) {
  if (filter.cluster.empty()) return filter;
  const parser::TreeClusters trees = read_tree_clusters(connection);
  RunFilter whole = filter;
  for (const std::string& cluster : filter.cluster) {
    if (cluster.empty()) whole.unnamed_but_of = trees.of_one();
    const auto of_cluster = trees.of_one(cluster);
    whole.unnamed_of.insert(whole.unnamed_of.end(), of_cluster.begin(), of_cluster.end());
  }
  return whole;
}

}  // namespace llmb::storage
