#include "server/cli/default_folders.h"

#include <filesystem>
#include <iostream>

#include "parser/layout/run_path.h"
#include "server/cli/watched_trees.h"

namespace llmb::cli {

std::vector<std::string> default_folders(std::string_view command, std::string_view what) {
  std::vector<std::string> notes;
  std::vector<std::string> folders;
  for (const ingest::RootOptions& root : choose_roots({}, notes)) folders.push_back(root.path);
  for (const std::string& note : notes) {
    std::cerr << "llmb-report " << command << ": " << note << '\n';
  }
  // Where a variable names trees, and none is there, this folder is not meant.
  if (folders.empty() && notes.empty()) {
    std::error_code error;
    for (const std::string_view folder : parser::kTreeFolders) {
      if (std::filesystem::exists(folder, error)) folders.emplace_back(folder);
    }
  }
  if (folders.empty()) {
    std::cerr << "llmb-report " << command << ": nothing to read: name " << what
              << ", set LLMB_WORKLOAD or LLMB_INSTALL to where logs are, or, with neither, go to "
                 "where 'experiments' or 'results' is\n";
  }
  return folders;
}

}  // namespace llmb::cli
