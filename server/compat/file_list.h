// The files that `find FOLDER -name PATTERN -type f` lists for the scripts, in path order.
#pragma once

#include <string>
#include <vector>

namespace llmb::compat {

struct FileList {
  std::vector<std::string> paths;
  // A folder could not be read: find's exit code then ends the script before it prints anything.
  std::string error;
};

// Like find without -L: links are not followed, not even `folder` itself unless it ends in '/'.
// A path that holds a newline falls apart in the scripts, and is left out.
FileList list_out_files(const std::string& folder, bool only_log_files);

std::string base_name(const std::string& path);

}  // namespace llmb::compat
