#include "server/cli/known_tree.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

namespace llmb::cli {

std::string known_tree(storage::Reader& reader, const std::string& root) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path wanted = fs::weakly_canonical(fs::absolute(root, error), error);
  if (!wanted.has_filename()) wanted = wanted.parent_path();
  const std::string real = wanted.string();
  std::string known;
  for (const storage::RootRecord& record : reader.roots()) {
    if (record.path == root || (!error && record.path == real)) return record.path;
    known.append(known.empty() ? "" : ", ").append(record.path);
  }
  throw CLI::ValidationError("--root", fmt::format("the database knows no tree {}; it knows: {}",
                                                   root, known.empty() ? "none" : known));
}

}  // namespace llmb::cli
