// WatchedRoot: one root as discovery sees it: whether it can be opened just now, and which
// llmb-configs it holds. A root that cannot be opened is an error of that root alone; every scan
// opens it anew.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/layout/run_path.h"
#include "server/ingest/clock.h"
#include "server/ingest/config_index.h"
#include "server/ingest/file_system_kind.h"
#include "server/ingest/operation_budget.h"
#include "server/ingest/root_directory.h"
#include "server/ingest/tree_parts.h"
#include "storage/records.h"

namespace llmb::ingest {

// The root itself, or a folder directly in it that may be a mount of its own, and how many logs an
// earlier process read below it, until something is found in it.
struct MissedFolder {
  std::string_view name;  // "": the root itself
  std::int64_t logs_missed = 0;
  bool is_empty = false;  // as the last scan found it

  bool holds(std::string_view relative_path) const;
};

struct WatchedRoot {
  storage::RootId id = 0;
  std::string path;                                // as stored: canonical
  bool path_is_canonical = true;                   // false: it did not answer when that was asked
  std::vector<std::string> pruned;                 // other roots below this one, relative
  std::string gpu_type;                            // where nothing else says it; may be empty
  TreeParts parts;                                 // that are read
  std::shared_ptr<const RootDirectory> directory;  // none while it cannot be opened
  bool was_mounted = false;  // it was where another file system begins, since this process began
  std::array<MissedFolder, 3> missed_folders{
      {{""}, {parser::kTreeFolders[0]}, {parser::kTreeFolders[1]}}};
  FileSystemKind kind = FileSystemKind::remote;
  OperationBudget budget{0, {}};
  std::string error;  // why the last scan failed; empty when it did not

  ConfigIndex configs;
  std::optional<WallTime> configs_known_until;  // older ones were applied by an earlier process

  // Opens the root anew. Sets `error`, and drops `directory`, where that fails. True: it is another
  // directory than before.
  bool reopen(double operations_per_s_max, SteadyTime now);
  parser::Result<RootDirectory> open_under_its_name();
  // An earlier process read this log.
  void miss_log(std::string_view relative_path);
  // Whether it lies in a folder whose file system is likely not mounted: it is out of reach.
  bool is_out_of_reach(std::string_view relative_path) const;
  // Whether what is there is another root's.
  bool leaves_out(std::string_view relative_path) const;
  void leave_out(std::string_view inner_path);  // absolute
  std::vector<std::string> paths_left_out() const;
};

// Whether nothing in the root, or in a folder of it, is a log or may hold one, and no other file
// system begins there. There may be a file that says what is missing. False where it cannot be
// listed.
bool is_empty_place(const RootDirectory& root, const std::string& folder);
// What is said of such a place, behind its name. `logs_missed`: 0 where it is not known.
std::string empty_place_words(std::string_view folder, std::int64_t logs_missed);

// Absolute, without symlinks as far as it exists.
std::string canonical_root_path(const std::string& path);
// The same without asking the file system: symlinks stay.
std::string absolute_root_path(const std::string& path);

// Roots in the order given, without repetitions; each knows which others lie below it.
std::vector<WatchedRoot> make_watched_roots(const std::vector<std::string>& canonical_paths);

}  // namespace llmb::ingest
