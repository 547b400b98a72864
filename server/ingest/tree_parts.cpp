#include "server/ingest/tree_parts.h"

#include "server/ingest/config_index.h"

namespace llmb::ingest {

TreeParts::TreeParts(const std::vector<std::string>& folders,
                     const std::vector<std::string>& files_of)
    : is_whole_(false),
      folders_(folders.begin(), folders.end()),
      files_of_(files_of.begin(), files_of.end()) {}

bool TreeParts::is_in_folders(std::string_view folder) const {
  while (!folder.empty()) {
    if (folders_.contains(folder)) return true;
    folder = directory_of(folder);
  }
  return folders_.contains(folder);
}

bool TreeParts::hold(std::string_view log_path) const {
  if (is_whole_) return true;
  const std::string_view folder = directory_of(log_path);
  return files_of_.contains(folder) || is_in_folders(folder);
}

bool TreeParts::descend_to(std::string_view folder) const {
  return is_whole_ || is_in_folders(directory_of(folder));
}

std::vector<std::string> TreeParts::starts() const {
  Paths starts{std::string()};
  for (const Paths* paths : {&folders_, &files_of_}) {
    for (std::string_view folder : *paths) {
      for (; !folder.empty(); folder = directory_of(folder)) starts.emplace(folder);
    }
  }
  return {starts.begin(), starts.end()};
}

}  // namespace llmb::ingest
