#include "server/ingest/watched_root.h"

#include <algorithm>
#include <filesystem>

namespace llmb::ingest {

void WatchedRoot::reopen(double operations_per_s_max, SteadyTime now) {
  auto opened = RootDirectory::open(path);
  if (!opened) {
    error = opened.error().message;
    directory.reset();
    event_walk.reset();
    return;
  }
  error.clear();
  const bool is_same = directory != nullptr && directory->device() == opened->device() &&
                       directory->inode() == opened->inode();
  if (is_same) return;
  directory = std::make_shared<const RootDirectory>(std::move(*opened));
  event_walk.reset();
  kind = file_system_kind(directory->fd());
  budget = OperationBudget(kind == FileSystemKind::remote ? operations_per_s_max : 0, now);
  // Another directory than before (a mount came or went): look at everything again.
  next_full_scan = now;
}

std::string canonical_root_path(const std::string& path) {
  std::error_code error;
  auto canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) canonical = std::filesystem::absolute(path).lexically_normal();
  std::string text = canonical.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::vector<WatchedRoot> make_watched_roots(const std::vector<std::string>& canonical_paths) {
  std::vector<WatchedRoot> roots;
  for (const std::string& path : canonical_paths) {
    const bool is_known = std::any_of(roots.begin(), roots.end(),
                                      [&](const WatchedRoot& root) { return root.path == path; });
    if (is_known) continue;
    roots.emplace_back().path = path;
  }
  for (WatchedRoot& outer : roots) {
    const std::string prefix = outer.path == "/" ? "/" : outer.path + '/';
    for (const WatchedRoot& inner : roots) {
      if (inner.path != outer.path && inner.path.starts_with(prefix)) {
        outer.pruned.push_back(inner.path.substr(prefix.size()));
      }
    }
  }
  return roots;
}

}  // namespace llmb::ingest
