#include "server/ingest/directory_table.h"

#include <chrono>

namespace llmb::ingest {
namespace {

constexpr std::chrono::nanoseconds kYoung = std::chrono::hours(48);
constexpr int kEmptyFolderDepth = 3;  // above it new experiments and launches appear

}  // namespace

std::int64_t young_since_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch() - kYoung)
      .count();
}

bool seldom_changes(const DirectoryState& directory, std::int64_t young_since_ns) {
  return directory.logs.empty() && directory.depth >= kEmptyFolderDepth &&
         directory.active_at_ns < young_since_ns;
}

DirectoryIndex DirectoryTable::add(std::string_view relative_path, int depth) {
  if (const auto known = find(relative_path)) return *known;
  const auto index = static_cast<DirectoryIndex>(directories_.size());
  const DirectoryIndex above = find_above(relative_path).value_or(kNoDirectory);
  if (above != kNoDirectory) directories_[above].children.push_back(index);
  DirectoryState& directory = directories_.emplace_back();
  directory.above = above;
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
