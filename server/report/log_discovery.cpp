#include "server/report/log_discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "parser/foundation/directory_listing.h"
#include "parser/layout/profile_name.h"
#include "parser/layout/run_path.h"
#include "server/unpacking/packing.h"

namespace llmb::report {
namespace {

using parser::FileRole;

std::string reason_from(int error) {
  return std::strerror(error);
}

// How many of a path's last folders belong to the layout: the user may have named an experiment, a
// launch, a job's folder or a log in it. Of the results tree that is the release's folder, too; and
// below `workloads` all from there on. More would only let unrelated folders speak.
std::size_t count_layout_folders(const std::vector<std::string>& parts) {
  constexpr std::size_t kFoldersOfTree = 4;     // 24.11/bf16/314b/512
  constexpr std::size_t kFoldersBelowRoot = 7;  // workloads/pretrain_grok1/results/24.11/…
  const std::size_t most = std::min(parts.size(), kFoldersBelowRoot);
  for (std::size_t count = most; count > kFoldersOfTree; --count) {
    if (parts[parts.size() - count] == "workloads") return count;
  }
  return std::min(parts.size(), kFoldersOfTree);
}

std::string layout_prefix(const std::string& root) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(root, error).lexically_normal();
  std::vector<std::string> parts;
  for (const auto& part : absolute) {
    if (!part.empty() && part != "/") parts.push_back(part.string());
  }
  std::string prefix;
  const std::size_t first = parts.size() - count_layout_folders(parts);
  for (std::size_t i = first; i < parts.size(); ++i) prefix += parts[i] + "/";
  return prefix;
}

struct PendingFolder {
  std::string path;
  std::string layout_path;  // ends in '/'
  bool may_be_link = false;
  std::vector<std::string> config_folders = {};  // above it, as of a LogFile
};

// A log that is named for itself may be of a launch or an experiment whose folder has its
// llmb-config.
std::vector<std::string> config_folders_of(std::string_view path) {
  constexpr std::size_t kFoldersMax = 3;
  std::vector<std::string> folders;
  for (std::size_t slash = path.rfind('/'); folders.size() < kFoldersMax;
       slash = path.rfind('/', slash - 1)) {
    if (slash == std::string_view::npos) {
      folders.emplace_back();
      break;
    }
    folders.emplace_back(path.substr(0, slash + 1));
    if (slash == 0) break;
  }
  return folders;
}

LogFile log_file(const std::string& path, bool is_named) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  const auto name = std::filesystem::path(path).filename().string();
  return {path, layout_prefix(parent.empty() ? "." : parent) + name, is_named,
          config_folders_of(path)};
}

// Shared by the threads that walk: a folder's entries take longer to get than to look at.
class FoldersToRead {
 public:
  // Empties `folders`.
  void add(std::vector<PendingFolder>& folders) {
    if (folders.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      std::move(folders.begin(), folders.end(), std::back_inserter(waiting_));
    }
    folders.clear();
    changed_.notify_all();
  }

  // Waits while there is none but others may still find some; nothing at the end.
  std::optional<PendingFolder> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || being_read_ == 0; });
    if (waiting_.empty()) return std::nullopt;
    PendingFolder folder = std::move(waiting_.back());
    waiting_.pop_back();
    ++being_read_;
    return folder;
  }

  // One that was taken is done, and what it holds was added.
  void finish_one() {
    const std::lock_guard lock(mutex_);
    if (--being_read_ == 0 && waiting_.empty()) changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PendingFolder> waiting_;
  std::size_t being_read_ = 0;
};

class Walker {
 public:
  explicit Walker(FoundLogs& discovery) : discovery_(discovery) {}

  void add_file(const std::string& path) { discovery_.logs.push_back(log_file(path, true)); }

  void add_stdin() { discovery_.logs.push_back({std::string(kStdin), "stdin", true, {}, false}); }

  // A named folder; what is below it is left to walk().
  void begin(const std::string& root, FoldersToRead& folders) {
    root_ = root;
    read_folder({root, layout_prefix(root), true});
    folders.add(pending_);
  }

  void walk(FoldersToRead& folders) {
    while (const auto folder = folders.take()) {
      read_folder(*folder);
      folders.add(pending_);
      folders.finish_one();
    }
  }

  void skip(std::string path, std::string reason,
            SkippedFile::Kind kind = SkippedFile::Kind::problem) {
    discovery_.skipped.push_back({std::move(path), std::move(reason), kind});
  }

 private:
  void read_folder(const PendingFolder& pending) {
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (pending.may_be_link ? 0 : O_NOFOLLOW);
    parser::FileDescriptor opened(open(pending.path.c_str(), flags));
    if (!opened.is_open()) return skip(pending.path, reason_from(errno));
    parser::DirectoryListing folder(std::move(opened));
    if (!folder.is_open()) return skip(pending.path, reason_from(errno));
    const std::string base = pending.path.ends_with('/') ? pending.path : pending.path + "/";
    const std::size_t first_log = discovery_.logs.size();
    bool has_config = false;
    bool has_profiles = false;
    while (const dirent* const entry = folder.next()) {
      const std::string name = static_cast<const char*>(entry->d_name);
      const FileRole role = parser::classify_file(name);
      has_config = has_config || role == FileRole::llmb_config;
      has_profiles = has_profiles || name == parser::kProfileFolder;
      add_entry(base + name, pending.layout_path + name, role,
                type_of(*entry, folder.descriptor()));
    }
    if (errno != 0) {
      return skip(pending.path, "reading the folder broke off: " + reason_from(errno));
    }
    add_packed(first_log);
    std::vector<std::string> config_folders = pending.config_folders;
    if (has_config) config_folders.insert(config_folders.begin(), base);
    for (PendingFolder& below : pending_) below.config_folders = config_folders;
    for (std::size_t i = first_log; i < discovery_.logs.size(); ++i) {
      discovery_.logs[i].config_folders = config_folders;
      discovery_.logs[i].may_have_profiles = has_profiles;
    }
  }

  // Some file systems do not say what an entry is.
  static unsigned char type_of(const dirent& entry, int folder) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type;
    struct stat status {};
    const char* name = static_cast<const char*>(entry.d_name);
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(status.st_mode));
  }

  void add_entry(const std::string& path, const std::string& layout_path, FileRole role,
                 unsigned char type) {
    const bool looks_like_log = role == FileRole::training_log;
    if (type == DT_DIR) {
      if (looks_like_log) skip(path, "a folder, not a log; the logs in it are read");
      pending_.push_back({path, layout_path + "/"});
    } else if (role == FileRole::batch_script_output) {
      skip(path, "output of the batch script, not a training log", SkippedFile::Kind::by_design);
    } else if (role == FileRole::voltage_boost_output) {
      skip(path, "output of vboost, not a training log", SkippedFile::Kind::by_design);
    } else if (role == FileRole::compressed_log && !unpacking::is_unpacked_by_name(path)) {
      skip(path,
           "a log that is compressed otherwise than by gzip, zstd, xz or bzip2 is not read: unpack "
           "it");
    } else if (type == DT_LNK) {
      take_link(path, layout_path, looks_like_log || role == FileRole::compressed_log);
    } else if (role == FileRole::compressed_log) {
      packed_.push_back({path, layout_path, false});
    } else if (looks_like_log) {
      discovery_.logs.push_back({path, layout_path, false});
    } else if (type == DT_REG) {
      discovery_.others.add(path);
    }
  }

  // Of the compressed logs of a folder those that do not lie beside the log itself; the folder's
  // logs are those from `first_log` on.
  void add_packed(std::size_t first_log) {
    if (packed_.empty()) return;
    std::set<std::string_view> paths;
    const auto first = discovery_.logs.begin() + static_cast<std::ptrdiff_t>(first_log);
    std::for_each(first, discovery_.logs.end(),
                  [&](const LogFile& log) { paths.insert(log.path); });
    std::erase_if(packed_, [&](const LogFile& log) {
      return paths.contains(parser::uncompressed_name(log.path));
    });
    std::move(packed_.begin(), packed_.end(), std::back_inserter(discovery_.logs));
    packed_.clear();
  }

  // A link that may hide logs is reported; links to other files are passed over in silence.
  void take_link(const std::string& path, const std::string& layout_path, bool looks_like_log) {
    struct stat target {};
    const bool is_folder = stat(path.c_str(), &target) == 0 && S_ISDIR(target.st_mode);
    const std::filesystem::path as_path(path);
    const bool is_in_root = !root_.empty() && as_path.parent_path() == without_slash(root_);
    // A link of that name in a root leads to what the root is for, as for ingest (watched_trees.h).
    if (is_folder && is_in_root && parser::is_tree_folder(as_path.filename().string())) {
      pending_.push_back({path, layout_path + "/", true});
      return;
    }
    if (!looks_like_log && !is_folder) return;
    skip(path, std::string(kLinkIsNotFollowed));
  }

  static std::filesystem::path without_slash(const std::filesystem::path& folder) {
    return folder.has_filename() ? folder : folder.parent_path();
  }

  FoundLogs& discovery_;
  std::string root_;  // of a walker that began with one
  std::vector<PendingFolder> pending_;
  std::vector<LogFile> packed_;  // of the folder that is read
};

// More would wait for each other, on most file systems.
constexpr std::size_t kWalkersMax = 4;

void append(FoundLogs& into, FoundLogs from) {
  std::move(from.logs.begin(), from.logs.end(), std::back_inserter(into.logs));
  std::move(from.skipped.begin(), from.skipped.end(), std::back_inserter(into.skipped));
  into.others.add(from.others);
}

void walk_tree(const std::string& root, FoundLogs& discovery) {
  FoldersToRead folders;
  Walker walker(discovery);
  walker.begin(root, folders);
  std::vector<FoundLogs> others(
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kWalkersMax) - 1);
  {
    std::vector<std::jthread> threads;
    threads.reserve(others.size());
    for (FoundLogs& other : others) {
      threads.emplace_back([&folders, &other] { Walker(other).walk(folders); });
    }
    walker.walk(folders);
  }
  for (FoundLogs& other : others) append(discovery, std::move(other));
}

FoundLogs discover_named(const std::string& path) {
  FoundLogs found;
  struct stat status {};
  if (path == kStdin) {
    Walker(found).add_stdin();
  } else if (stat(path.c_str(), &status) != 0) {
    Walker(found).skip(path, reason_from(errno));
  } else if (S_ISDIR(status.st_mode)) {
    walk_tree(path, found);
  } else {
    Walker(found).add_file(path);
  }
  return found;
}

// Leaves of what was found below `path` what was not found before: a tree may be named twice, by
// other words or through a link, and inside of another. `places`: of all that was found.
void leave_out_known(const std::string& path, std::set<std::string>& places, FoundLogs& found) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path place = fs::weakly_canonical(path, error);
  if (error) return;
  // The links that are followed lead elsewhere.
  std::map<std::string, fs::path, std::less<>> linked;
  for (const std::string_view name : parser::kTreeFolders) {
    const fs::path inside = fs::path(path) / name;
    if (fs::is_symlink(inside, error))
      linked[std::string(name)] = fs::weakly_canonical(inside, error);
  }
  std::erase_if(found.logs, [&](const LogFile& log) {
    std::string_view below = std::string_view(log.path).substr(path.size());
    if (below.starts_with('/')) below.remove_prefix(1);
    const std::size_t slash = std::min(below.find('/'), below.size());
    const auto link = linked.find(below.substr(0, slash));
    const bool is_linked = link != linked.end() && slash < below.size();
    const fs::path log_place = is_linked       ? link->second / below.substr(slash + 1)
                               : below.empty() ? place
                                               : place / below;
    return !places.insert(log_place.string()).second;
  });
}

}  // namespace

void OtherFiles::add(const std::string& path) {
  const bool is_text = path.ends_with(".log") || path.ends_with(".txt");
  add({1, is_text ? 1U : 0U, is_text ? path : ""});
}

// Walkers meet files in any order, so that the first one is by its path.
void OtherFiles::add(const OtherFiles& others) {
  count += others.count;
  text_count += others.text_count;
  if (others.first_text.empty()) return;
  first_text = first_text.empty() ? others.first_text : std::min(first_text, others.first_text);
}

LogFile log_elsewhere(const std::string& path) {
  LogFile log = log_file(path, false);
  // Not of another log's folder that is called the same here.
  std::error_code error;
  log.may_have_profiles = std::filesystem::exists(path, error);
  if (!log.may_have_profiles) log.config_folders.clear();
  return log;
}

std::string no_log_text(const std::vector<std::string>& paths, const OtherFiles& others) {
  std::string text = "no training log (*.out) could be read below";
  for (const std::string& path : paths) text += fmt::format(" '{}'", path);
  if (others.count == 0) return text;
  text += fmt::format("; there {} {} other file{}", others.count == 1 ? "is" : "are", others.count,
                      others.count == 1 ? "" : "s");
  if (others.text_count == 0) return text;
  return text +
         fmt::format(", {} of them *.log or *.txt: name such a log itself to read it, as '{}'",
                     others.text_count, others.first_text);
}

FoundLogs discover_logs(const std::vector<std::string>& paths) {
  FoundLogs discovery;
  std::set<std::string> places;
  for (const std::string& path : paths) {
    FoundLogs found = discover_named(path);
    if (paths.size() > 1 && path != kStdin) leave_out_known(path, places, found);
    append(discovery, std::move(found));
  }
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  const auto same_path = [](const auto& a, const auto& b) { return a.path == b.path; };
  const auto by_path_and_reason = [](const SkippedFile& a, const SkippedFile& b) {
    return std::tie(a.path, a.reason) < std::tie(b.path, b.reason);
  };
  std::stable_sort(discovery.logs.begin(), discovery.logs.end(), by_path);
  discovery.logs.erase(std::unique(discovery.logs.begin(), discovery.logs.end(), same_path),
                       discovery.logs.end());
  std::sort(discovery.skipped.begin(), discovery.skipped.end(), by_path_and_reason);
  return discovery;
}

}  // namespace llmb::report
