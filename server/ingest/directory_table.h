// DirectoryTable: what the scanner knows of every directory of its root: when it changed last,
// which logs are in it, and whether inotify reports its changes. Used by the discovery thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/ingest/file_table.h"

namespace llmb::ingest {

struct DirectoryState {
  std::string relative_path;  // "" is the root
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  // Its time of modification at its last listing: as long as it is the same, so are its entries.
  // 0: list it again.
  std::int64_t modified_ns = 0;
  // The newest sign of life: its own time of modification, or that of a log in it.
  std::int64_t active_at_ns = 0;
  std::uint32_t listings = 0;
  std::uint32_t walk_seen = 0;          // the last whole walk that listed it
  std::int32_t depth = 0;               // 0: the root
  DirectoryIndex above = kNoDirectory;  // where that was known when this one was met
  bool is_watched = false;
  bool is_gone = false;
  std::vector<FileIndex> logs;
  std::vector<DirectoryIndex> children;  // that were ever met
};

// What has shown no sign of life since is old; nanoseconds since the epoch.
std::int64_t young_since_ns();
// An old folder without a log of its own, as a launch's is, around the one with its log: nothing
// new is to be expected in it.
bool seldom_changes(const DirectoryState& directory, std::int64_t young_since_ns);

class DirectoryTable {
 public:
  // Finds it or adds it, below its parent where that is known.
  DirectoryIndex add(std::string_view relative_path, int depth);
  std::optional<DirectoryIndex> find(std::string_view relative_path) const;
  DirectoryState& at(DirectoryIndex index) { return directories_[index]; }
  const DirectoryState& at(DirectoryIndex index) const { return directories_[index]; }
  std::size_t size() const { return directories_.size(); }
  void clear();

 private:
  std::optional<DirectoryIndex> find_above(std::string_view relative_path) const;

  std::deque<DirectoryState> directories_;  // addresses stay: the index holds views of the paths
  std::unordered_map<std::string_view, DirectoryIndex> by_path_;
};

}  // namespace llmb::ingest
