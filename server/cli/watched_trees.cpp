#include "server/cli/watched_trees.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;

// Nothing and empty are the same for these variables.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::vector<ingest::RootOptions> choose_roots(const std::vector<std::string>& given) {
  std::vector<std::string> paths = given;
  if (paths.empty()) {
    std::string path = variable("LLMB_WORKLOAD");
    if (path.empty()) path = variable("STAGE_PATH");
    if (!path.empty()) paths.push_back(std::move(path));
  }
  std::vector<ingest::RootOptions> roots;
  for (const std::string& path : paths) {
    roots.push_back({path, {}});
    for (const char* folder : {"experiments", "results"}) {
      const fs::path inside = fs::path(path) / folder;
      std::error_code error;
      if (fs::is_symlink(inside, error) && fs::is_directory(inside, error)) {
        roots.push_back({inside.string(), {}});
      }
    }
  }
  return roots;
}

std::string default_database_path() {
  std::string state = variable("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) {
      throw std::runtime_error(
          "cannot choose a place for the database: neither XDG_STATE_HOME nor HOME is set; "
          "name a file with --db");
    }
    state = home + "/.local/state";
  }
  const fs::path folder = fs::path(state) / "llmb-report";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw std::runtime_error("cannot make the folder " + folder.string() + " for the database: " +
                             error.message() + "; name another file with --db");
  }
  return (folder / "llmb-report.db").string();
}

}  // namespace llmb::cli
