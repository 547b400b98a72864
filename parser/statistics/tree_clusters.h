// TreeClusters: of which cluster a run is that names none. Launches name theirs in their
// llmb-config from some release on only, so it is the one that the others of its tree name, where
// that is one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

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

 private:
  std::map<std::int64_t, std::set<std::string>> named_;
};

}  // namespace llmb::parser
