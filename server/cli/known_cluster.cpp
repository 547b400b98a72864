#include "server/cli/known_cluster.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

namespace llmb::cli {

void require_known_cluster(storage::Reader& reader, const std::string& cluster,
                           const std::string& what, const std::string& which,
                           std::set<std::string> others) {
  std::set<std::string> known = std::move(others);
  for (const storage::RootRecord& root : reader.roots()) known.insert(root.cluster);
  if (known.contains(cluster)) return;
  known.erase("");
  const std::string names = known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "));
  throw CLI::ValidationError("--cluster", fmt::format("the database has no {} {}{}; it knows: {}",
                                                      what, cluster, which, names));
}

}  // namespace llmb::cli
