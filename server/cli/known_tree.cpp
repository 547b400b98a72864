#include "server/cli/known_tree.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "server/ingest/watched_root.h"

namespace llmb::cli {

std::string known_tree(storage::Reader& reader, const std::string& root) {
  const std::string real = ingest::canonical_root_path(root);
  std::string known;
  for (const storage::RootRecord& record : reader.roots()) {
    if (record.path == root || record.path == real) return record.path;
    known.append(known.empty() ? "" : ", ").append(record.path);
  }
  throw CLI::ValidationError("--root", fmt::format("the database knows no tree {}; it knows: {}",
                                                   root, known.empty() ? "none" : known));
}

}  // namespace llmb::cli
