#include "server/ingest/directory_table.h"

namespace llmb::ingest {

DirectoryIndex DirectoryTable::add(std::string_view relative_path, int depth) {
  if (const auto known = find(relative_path)) return *known;
  const auto index = static_cast<DirectoryIndex>(directories_.size());
  if (const auto above = find_above(relative_path)) {
    directories_[*above].children.push_back(index);
  }
  DirectoryState& directory = directories_.emplace_back();
  directory.relative_path = relative_path;
  directory.depth = depth;
  by_path_.emplace(directory.relative_path, index);
  return index;
}

std::optional<DirectoryIndex> DirectoryTable::find(std::string_view relative_path) const {
  const auto found = by_path_.find(relative_path);
  if (found == by_path_.end()) return std::nullopt;
  return found->second;
}

std::optional<DirectoryIndex> DirectoryTable::find_above(std::string_view relative_path) const {
  if (relative_path.empty()) return std::nullopt;
  const auto slash = relative_path.rfind('/');
  return find(slash == std::string_view::npos ? std::string_view()
                                              : relative_path.substr(0, slash));
}

void DirectoryTable::clear() {
  by_path_.clear();
  directories_.clear();
}

}  // namespace llmb::ingest
