// How titles of series name the cluster that they are of: where all are of one, not at all.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace llmb::report {

template <typename Series>
bool has_clusters(const std::vector<Series>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Series& series) { return series.cluster != all.front().cluster; });
}

// `cluster`: empty where it is not known.
inline std::string cluster_words(const std::string& cluster) {
  return cluster.empty() ? "no cluster named" : "cluster " + cluster;
}

}  // namespace llmb::report
