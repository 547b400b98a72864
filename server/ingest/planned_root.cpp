#include "server/ingest/planned_root.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/ingest/abandoned_call.h"

namespace llmb::ingest {
namespace {

constexpr std::chrono::seconds kPatience{2};

}  // namespace

std::vector<PlannedRoot> plan_roots(const std::vector<RootOptions>& wanted) {
  std::vector<std::string> paths;
  std::vector<const RootOptions*> of_path;
  std::vector<std::string> unanswered;
  for (const RootOptions& root : wanted) {
    auto canonical =
        answer_within(kPatience, [path = root.path] { return canonical_root_path(path); });
    std::string path = canonical.value_or(absolute_root_path(root.path));
    if (!canonical) unanswered.push_back(path);
    if (std::find(paths.begin(), paths.end(), path) != paths.end()) continue;
    paths.push_back(std::move(path));
    of_path.push_back(&root);
  }
  std::vector<PlannedRoot> planned;
  for (WatchedRoot& root : make_watched_roots(paths)) {
    const RootOptions& options = *of_path[planned.size()];
    root.parts = options.parts;
    root.gpu_type = options.gpu_type;
    root.path_is_canonical =
        std::find(unanswered.begin(), unanswered.end(), root.path) == unanswered.end();
    planned.push_back({std::move(root), options.cluster});
  }
  return planned;
}

}  // namespace llmb::ingest
