#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace llmb::tidy {
namespace {

namespace fs = std::filesystem;

// Made by builds, package managers and version control; not ours to hold to the rules.
const std::set<std::string> kSkippedFolders = {".git", "build", "node_modules", "dist", ".cache"};

}  // namespace

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool ends_with(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::vector<SourceFile> source_files(const std::vector<std::string>& extensions) {
  const fs::path root = LLMB_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    if (entry->is_directory() && kSkippedFolders.contains(entry->path().filename().string())) {
      entry.disable_recursion_pending();
      continue;
    }
    const std::string name = entry->path().filename().string();
    const bool wanted = std::any_of(extensions.begin(), extensions.end(),
                                    [&](const auto& suffix) { return ends_with(name, suffix); });
    if (!wanted || !entry->is_regular_file()) continue;
    SourceFile file{fs::relative(entry->path(), root).generic_string(), {}};
    std::ifstream stream(entry->path());
    for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<SourceFile> product_files() {
  std::vector<SourceFile> files = source_files({".h", ".cpp", ".cu", ".cuh"});
  std::erase_if(files, [](const SourceFile& file) { return starts_with(file.path, "tests/"); });
  return files;
}

std::vector<std::string> document_section(const std::string& document, const std::string& heading) {
  const std::string rank = heading.substr(0, heading.find(' ') + 1);
  std::ifstream stream(fs::path(LLMB_SOURCE_DIR) / document);
  std::vector<std::string> lines;
  bool in_section = false;
  for (std::string line; std::getline(stream, line);) {
    if (starts_with(line, rank)) {
      in_section = line == heading;
    } else if (in_section) {
      lines.push_back(line);
    }
  }
  return lines;
}

std::vector<std::string> top_level_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(LLMB_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    if (!kSkippedFolders.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace llmb::tidy
