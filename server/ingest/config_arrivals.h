// ConfigArrivals: llmb-configs that came, or changed, after logs were read, until they are matched
// with the logs they belong to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/ingest/file_table.h"
#include "server/ingest/watched_root.h"

namespace llmb::ingest {

class ConfigArrivals {
 public:
  // Takes it up in the root's ConfigIndex. What an earlier process applied already is no arrival.
  void note(WatchedRoot& root, const std::string& relative_path, const FileFacts& facts);
  bool empty() const { return paths_.empty(); }
  // Calls back for each log that one of them belongs to, and forgets them.
  void match(const WatchedRoot& root, FileTable& files,
             const std::function<void(FileIndex)>& on_match);

 private:
  std::vector<std::string> paths_;
};

}  // namespace llmb::ingest
