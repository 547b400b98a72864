// What the parameter `cluster` asks for.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace llmb::api {

// Of runs that are of no cluster; and of one that somebody gave this name.
inline constexpr const char* kNoCluster = "none";

// Its values as storage::RunFilter has them.
inline std::vector<std::string> clusters_asked(std::vector<std::string> values) {
  const bool asks_for_none = std::find(values.begin(), values.end(), kNoCluster) != values.end();
  if (asks_for_none) values.emplace_back();
  return values;
}

}  // namespace llmb::api
