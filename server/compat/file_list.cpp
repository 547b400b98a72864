#include "server/compat/file_list.h"

#include <algorithm>
#include <filesystem>

namespace llmb::compat {
namespace {

namespace fs = std::filesystem;

bool matches(const std::string& name, bool only_log_files) {
  return name.ends_with(".out") && (!only_log_files || name.starts_with("log"));
}

void walk(const fs::path& folder, bool only_log_files, FileList& list) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    list.error = "find: '" + folder.string() + "': " + error.message();
    return;
  }
  for (const fs::directory_entry& entry : entries) {
    std::error_code gone;
    const fs::file_status status = entry.symlink_status(gone);
    if (gone) continue;
    const std::string path = entry.path().string();
    if (fs::is_directory(status)) {
      walk(entry.path(), only_log_files, list);
    } else if (fs::is_regular_file(status) && path.find('\n') == std::string::npos &&
               matches(entry.path().filename().string(), only_log_files)) {
      list.paths.push_back(path);
    }
  }
}

}  // namespace

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

FileList list_out_files(const std::string& folder, bool only_log_files) {
  FileList list;
  std::error_code error;
  const bool is_link = fs::is_symlink(fs::symlink_status(folder, error));
  if (is_link && !folder.ends_with('/')) return list;
  walk(folder, only_log_files, list);
  std::sort(list.paths.begin(), list.paths.end());
  return list;
}

}  // namespace llmb::compat
