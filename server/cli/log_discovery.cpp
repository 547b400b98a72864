#include "server/cli/log_discovery.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "parser/layout/run_path.h"

namespace llmb::cli {
namespace {

using parser::FileRole;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::string reason_from(int error) {
  return std::strerror(error);
}

// The last folders of the root belong to the layout: the user may have named an experiment, a
// launch or a job's folder. More of them would only let unrelated folders speak.
std::string layout_prefix(const std::string& root) {
  constexpr std::size_t kFoldersThatCount = 3;
  std::error_code error;
  const auto absolute = std::filesystem::absolute(root, error).lexically_normal();
  std::vector<std::string> parts;
  for (const auto& part : absolute) {
    if (!part.empty() && part != "/") parts.push_back(part.string());
  }
  std::string prefix;
  const std::size_t first = parts.size() - std::min(parts.size(), kFoldersThatCount);
  for (std::size_t i = first; i < parts.size(); ++i) prefix += parts[i] + "/";
  return prefix;
}

class Walker {
 public:
  explicit Walker(Discovery& discovery) : discovery_(discovery) {}

  void add_named(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
      skip(path, reason_from(errno));
    } else if (S_ISDIR(status.st_mode)) {
      walk(path);
    } else {
      const auto parent = std::filesystem::path(path).parent_path().string();
      const auto name = std::filesystem::path(path).filename().string();
      discovery_.logs.push_back({path, layout_prefix(parent.empty() ? "." : parent) + name, true});
    }
  }

 private:
  struct Pending {
    std::string path;
    std::string layout_path;  // ends in '/'
  };

  void skip(std::string path, std::string reason,
            SkippedFile::Kind kind = SkippedFile::Kind::problem) {
    discovery_.skipped.push_back({std::move(path), std::move(reason), kind});
  }

  void walk(const std::string& root) {
    pending_.push_back({root, layout_prefix(root)});
    bool is_root = true;
    while (!pending_.empty()) {
      const Pending folder = std::move(pending_.back());
      pending_.pop_back();
      read_folder(folder, is_root);
      is_root = false;
    }
  }

  void read_folder(const Pending& pending, bool may_be_link) {
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (may_be_link ? 0 : O_NOFOLLOW);
    const int descriptor = open(pending.path.c_str(), flags);
    if (descriptor < 0) return skip(pending.path, reason_from(errno));
    const Folder folder(fdopendir(descriptor));
    if (!folder) {
      const int error = errno;
      close(descriptor);
      return skip(pending.path, reason_from(error));
    }
    const std::string base = pending.path.ends_with('/') ? pending.path : pending.path + "/";
    while (true) {
      errno = 0;
      const dirent* entry = readdir(folder.get());
      if (entry == nullptr) break;
      const std::string name = static_cast<const char*>(entry->d_name);
      if (name == "." || name == "..") continue;
      add_entry(base + name, pending.layout_path + name, type_of(*entry, dirfd(folder.get())));
    }
    if (errno != 0) skip(pending.path, "reading the folder broke off: " + reason_from(errno));
  }

  // Some file systems do not say what an entry is.
  static unsigned char type_of(const dirent& entry, int folder) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type;
    struct stat status {};
    const char* name = static_cast<const char*>(entry.d_name);
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(status.st_mode));
  }

  void add_entry(const std::string& path, const std::string& layout_path, unsigned char type) {
    const FileRole role = parser::classify_file(path);
    const bool looks_like_log = role == FileRole::training_log;
    if (type == DT_DIR) {
      if (looks_like_log) skip(path, "a folder, not a log; the logs in it are read");
      pending_.push_back({path, layout_path + "/"});
    } else if (role == FileRole::batch_script_output) {
      skip(path, "output of the batch script, not a training log", SkippedFile::Kind::by_design);
    } else if (role == FileRole::voltage_boost_output) {
      skip(path, "output of vboost, not a training log", SkippedFile::Kind::by_design);
    } else if (type == DT_LNK) {
      skip_link(path, looks_like_log);
    } else if (looks_like_log) {
      discovery_.logs.push_back({path, layout_path, false});
    }
  }

  // Links to other files than logs are nobody's business; one that hides logs is.
  void skip_link(const std::string& path, bool looks_like_log) {
    struct stat target {};
    const bool exists = stat(path.c_str(), &target) == 0;
    if (!looks_like_log && !(exists && S_ISDIR(target.st_mode))) return;
    skip(path, "a symbolic link; name it on the command line to follow it");
  }

  Discovery& discovery_;
  std::vector<Pending> pending_;
};

}  // namespace

Discovery discover_logs(const std::vector<std::string>& paths) {
  Discovery discovery;
  Walker walker(discovery);
  for (const std::string& path : paths) walker.add_named(path);
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  const auto same_path = [](const auto& a, const auto& b) { return a.path == b.path; };
  std::stable_sort(discovery.logs.begin(), discovery.logs.end(), by_path);
  discovery.logs.erase(std::unique(discovery.logs.begin(), discovery.logs.end(), same_path),
                       discovery.logs.end());
  std::stable_sort(discovery.skipped.begin(), discovery.skipped.end(), by_path);
  return discovery;
}

}  // namespace llmb::cli
