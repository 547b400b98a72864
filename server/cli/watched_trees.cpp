#include "server/cli/watched_trees.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "parser/layout/run_path.h"
#include "server/ingest/abandoned_call.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;

// For a file system to answer: a mount may hang, and the others are there all the same.
constexpr std::chrono::seconds kPatience{2};

// Nothing and empty are the same for these variables.
std::string shell_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> paths_of_environment(std::vector<std::string>& notes) {
  for (const char* name : {"LLMB_WORKLOAD", "STAGE_PATH"}) {
    if (std::string path = shell_variable(name); !path.empty()) return {std::move(path)};
  }
  std::vector<std::string> paths;
  const std::string install = shell_variable("LLMB_INSTALL");
  if (install.empty()) return paths;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(install) / "workloads", error), end; at != end;
       at.increment(error)) {
    std::error_code unreadable;
    if (at->is_directory(unreadable)) paths.push_back(at->path().string());
    if (error) break;
  }
  if (paths.empty())
    notes.push_back("LLMB_INSTALL names no tree: " + install + "/workloads has no folder");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The path with its links resolved, as far as it exists.
fs::path resolved(const std::string& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(path, error);
  if (error) result = fs::absolute(path, error).lexically_normal();
  return result.has_filename() ? result : result.parent_path();  // without a slash at the end
}

struct PlacedRoot {
  ingest::RootOptions root;
  fs::path place;  // resolved
};

// The root, and what links in it lead elsewhere to.
std::vector<PlacedRoot> root_with_links(const ingest::RootOptions& root) {
  std::vector<PlacedRoot> all = {{root, resolved(root.path)}};
  for (const std::string_view folder : parser::kTreeFolders) {
    const fs::path inside = fs::path(root.path) / folder;
    std::error_code error;
    if (fs::is_symlink(inside, error) && fs::is_directory(inside, error)) {
      all.push_back({{inside.string(), root.cluster, root.gpu_type}, resolved(inside.string())});
    }
  }
  return all;
}

bool is_in(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

std::vector<ingest::RootOptions> roots_at(const std::vector<std::string>& paths) {
  std::vector<ingest::RootOptions> roots;
  roots.reserve(paths.size());
  for (const std::string& path : paths) roots.push_back({path, {}});
  return roots;
}

std::vector<ingest::RootOptions> choose_roots(std::vector<ingest::RootOptions> given,
                                              std::vector<std::string>& notes,
                                              const std::optional<ingest::RootOptions>& of_jobs) {
  if (given.empty()) given = roots_at(paths_of_environment(notes));
  const std::size_t named = given.size();
  if (of_jobs) given.push_back(*of_jobs);
  std::vector<PlacedRoot> all;
  std::size_t all_named = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const ingest::RootOptions& root = given[i];
    auto found = ingest::answer_within(kPatience, [root] { return root_with_links(root); });
    if (!found) {
      notes.push_back(root.path + " does not answer; going on, and reading it once it does");
      found = {{root, fs::absolute(root.path).lexically_normal()}};
    }
    std::move(found->begin(), found->end(), std::back_inserter(all));
    if (i < named) all_named = all.size();
  }
  std::vector<ingest::RootOptions> roots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PlacedRoot* outer = nullptr;
    for (std::size_t j = 0; j < all.size() && outer == nullptr; ++j) {
      const bool is_outer = j != i && is_in(all[i].place, all[j].place);
      if (is_outer && (all[i].place != all[j].place || j < i)) outer = &all[j];
    }
    if (outer == nullptr) {
      roots.push_back(all[i].root);
    } else if (i < all_named) {  // nobody named the others
      const bool is_twin = all[i].place == outer->place;
      notes.push_back(all[i].root.path + (is_twin ? " is the same as " : " is part of ") +
                      outer->root.path + ", and watched with it");
    }
  }
  return roots;
}

std::vector<std::string> take_out_missing_roots(std::vector<ingest::RootOptions>& roots) {
  std::vector<std::string> missing;
  std::erase_if(roots, [&](const ingest::RootOptions& root) {
    const auto is_missing = ingest::answer_within(kPatience, [path = root.path] {
      std::error_code error;
      const fs::file_type type = fs::status(path, error).type();
      return type != fs::file_type::directory && type != fs::file_type::none;
    });
    if (!is_missing || !*is_missing) return false;
    missing.push_back(root.path);
    return true;
  });
  return missing;
}

void note_missing_roots(const std::vector<ingest::RootOptions>& roots,
                        std::vector<std::string>& notes) {
  for (const ingest::RootOptions& root : roots) {
    const auto look = [path = root.path]() -> std::string {
      std::error_code error;
      if (fs::is_directory(path, error)) return {};
      return path + " is not a folder" + (error ? " (" + error.message() + ")" : "") +
             "; going on without it, and reading it once it is there";
    };
    // One that does not answer was noted when roots were chosen.
    const auto note = ingest::answer_within(kPatience, look);
    if (note && !note->empty()) notes.push_back(*note);
  }
}

namespace {

fs::path default_database_folder() {
  std::string state = shell_variable("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string home = shell_variable("HOME");
    if (home.empty()) {
      throw std::runtime_error(
          "cannot choose a place for the database: neither XDG_STATE_HOME nor HOME is set; "
          "name a file with --db");
    }
    state = home + "/.local/state";
  }
  return fs::path(state) / "llmb-report";
}

}  // namespace

std::string default_database_path() {
  return (default_database_folder() / "llmb-report.db").string();
}

std::string made_default_database_path() {
  const fs::path folder = default_database_folder();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw std::runtime_error("cannot make the folder " + folder.string() + " for the database: " +
                             error.message() + "; name another file with --db");
  }
  return default_database_path();
}

}  // namespace llmb::cli
