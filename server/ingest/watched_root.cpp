#include "server/ingest/watched_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "parser/foundation/directory_listing.h"
#include "server/ingest/tree_walk.h"
#include "storage/root_claim.h"

namespace llmb::ingest {
namespace {

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Whether another file system begins there.
bool is_mount_point(const RootDirectory& root) {
  struct stat above {};
  return fstatat(root.fd(), "..", &above, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
         above.st_dev != root.device();
}

}  // namespace

bool is_empty_place(const RootDirectory& root, const std::string& folder) {
  OpenResult opened = root.open_directory(folder);
  struct stat status {};
  if (opened.error != 0 || fstat(opened.fd.get(), &status) != 0) return false;
  if (folder.empty() ? is_mount_point(root) : status.st_dev != root.device()) return false;
  parser::DirectoryListing listing(std::move(opened.fd));
  if (!listing.is_open()) return false;
  while (const dirent* const entry = listing.next()) {
    if (entry->d_type != DT_REG || may_be_candidate(entry->d_name)) return false;
  }
  return errno == 0;
}

std::string empty_place_words(std::string_view folder, std::int64_t logs_missed) {
  return fmt::format(
      "is empty, and logs were read from it before{}: is its file system not mounted? None of them "
      "counts as gone before something is in it{}",
      logs_missed == 0 ? "" : fmt::format(" ({} of them)", logs_missed),
      folder.empty() ? "" : "; remove the empty folder if its logs are gone on purpose");
}

bool MissedFolder::holds(std::string_view relative_path) const {
  return name.empty() || storage::is_inside(relative_path, name);
}

void WatchedRoot::miss_log(std::string_view relative_path) {
  for (MissedFolder& folder : missed_folders) {
    if (folder.holds(relative_path)) ++folder.logs_missed;
  }
}

bool WatchedRoot::is_out_of_reach(std::string_view relative_path) const {
  return std::any_of(missed_folders.begin(), missed_folders.end(), [&](const MissedFolder& folder) {
    return folder.is_empty && folder.holds(relative_path);
  });
}

bool WatchedRoot::reopen(double operations_per_s_max, SteadyTime now) {
  auto opened = open_under_its_name();
  if (!opened) {
    error = opened.error().message;
    directory.reset();
    return false;
  }
  const bool is_mounted = is_mount_point(*opened);
  if (was_mounted && !is_mounted) {
    // What lies below the mount is another folder, mostly an empty one: no log was lost.
    error = fmt::format(
        "the root {} is not mounted any more; nothing is read from it until it is. Start again "
        "where the folder itself is meant",
        path);
    directory.reset();
    return false;
  }
  for (MissedFolder& folder : missed_folders) {
    folder.is_empty = folder.logs_missed > 0 && is_empty_place(*opened, std::string(folder.name));
    if (!folder.is_empty) {
      folder.logs_missed = 0;
    } else if (folder.name.empty()) {
      error = fmt::format("the root {} {}", path, empty_place_words("", folder.logs_missed));
      directory.reset();
      return false;
    }
  }
  was_mounted = was_mounted || is_mounted;
  error.clear();
  const bool is_same = directory != nullptr && directory->device() == opened->device() &&
                       directory->inode() == opened->inode();
  if (is_same) return false;
  directory = std::make_shared<const RootDirectory>(std::move(*opened));
  kind = file_system_kind(directory->fd());
  budget = OperationBudget(kind == FileSystemKind::remote ? operations_per_s_max : 0, now);
  return true;
}

// A root that did not answer at first may turn out to be a link. Its logs may be stored under the
// name it leads to, and must not be stored again under this one.
parser::Result<RootDirectory> WatchedRoot::open_under_its_name() {
  if (!path_is_canonical) {
    const std::string canonical = canonical_root_path(path);
    if (canonical != path) {
      return parser::fail(fmt::format(
          "the root {} did not answer at the start, and is a link to {}: start again, and it is "
          "read under that name",
          path, canonical));
    }
    path_is_canonical = true;
  }
  return RootDirectory::open(path);
}

bool WatchedRoot::leaves_out(std::string_view relative_path) const {
  return std::any_of(pruned.begin(), pruned.end(), [&](const std::string& folder) {
    return storage::is_inside(relative_path, folder);
  });
}

void WatchedRoot::leave_out(std::string_view inner_path) {
  std::string relative(inner_path.substr(path == "/" ? 1 : path.size() + 1));
  if (std::find(pruned.begin(), pruned.end(), relative) == pruned.end()) {
    pruned.push_back(std::move(relative));
  }
}

std::vector<std::string> WatchedRoot::paths_left_out() const {
  std::vector<std::string> paths;
  for (const std::string& folder : pruned) {
    paths.push_back(path == "/" ? path + folder : path + '/' + folder);
  }
  return paths;
}

std::string canonical_root_path(const std::string& path) {
  std::error_code error;
  auto canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? absolute_root_path(path) : without_last_slash(canonical.string());
}

std::string absolute_root_path(const std::string& path) {
  return without_last_slash(std::filesystem::absolute(path).lexically_normal().string());
}

std::vector<WatchedRoot> make_watched_roots(const std::vector<std::string>& canonical_paths) {
  std::vector<WatchedRoot> roots;
  for (const std::string& path : canonical_paths) {
    const bool is_known = std::any_of(roots.begin(), roots.end(),
                                      [&](const WatchedRoot& root) { return root.path == path; });
    if (is_known) continue;
    roots.emplace_back().path = path;
  }
  for (WatchedRoot& outer : roots) {
    for (const WatchedRoot& inner : roots) {
      if (storage::is_inside(inner.path, outer.path)) outer.leave_out(inner.path);
    }
  }
  return roots;
}

}  // namespace llmb::ingest
