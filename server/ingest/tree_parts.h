// TreeParts: which part of a root is read, where several programs share one. A log keeps the path
// that it has below the root, whoever reads it. The llmb-configs above a part are read with it,
// because they may belong to its logs.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::ingest {

// Relative paths; "" is the root itself.
class TreeParts {
 public:
  // The whole root.
  TreeParts() = default;
  // `folders`: with all below them. `files_of`: folders of which only the files directly in them
  // are read. At least one of either.
  TreeParts(const std::vector<std::string>& folders, const std::vector<std::string>& files_of);

  bool is_whole() const { return is_whole_; }
  // Whether the log belongs to them.
  bool hold(std::string_view log_path) const;
  // Whether a folder that was met by the walk of another is walked, too: those above the parts are
  // begun at by themselves.
  bool descend_to(std::string_view folder) const;
  // Where a walk begins: the parts, and all folders above them.
  std::vector<std::string> starts() const;

 private:
  using Paths = std::set<std::string, std::less<>>;
  bool is_in_folders(std::string_view folder) const;

  bool is_whole_ = true;
  Paths folders_;
  Paths files_of_;
};

}  // namespace llmb::ingest
