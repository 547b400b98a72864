// TreeClusters: of which cluster a run is that names none. Launches name theirs in their
// llmb-config from some release on only, so it is the one that the others of its tree name, where
// that is one. Whatever is asked for, all runs of the tree say it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

class TreeClusters {
 public:
  // A run of `tree`, the caller's number, says that it is of `cluster`, or does not say.
  void learn(std::int64_t tree, const std::optional<std::string>& cluster) {
    if (cluster) named_[tree].insert(*cluster);
  }
  // Of such a run, once all were learnt. Empty: not known.
  std::string of(std::int64_t tree, const std::optional<std::string>& cluster) const {
    if (cluster) return *cluster;
    const auto named = named_.find(tree);
    return named != named_.end() && named->second.size() == 1 ? *named->second.begin() : "";
  }
  // The trees that name one cluster, in order: all of them, or those that name this one.
  std::vector<std::int64_t> of_one(std::optional<std::string_view> cluster = {}) const {
    std::vector<std::int64_t> trees;
    for (const auto& [tree, names] : named_) {
      if (names.size() == 1 && (!cluster || *names.begin() == *cluster)) trees.push_back(tree);
    }
    return trees;
  }

 private:
  std::map<std::int64_t, std::set<std::string>> named_;
};

}  // namespace llmb::parser
