#include "server/ingest/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "parser/layout/run_path.h"

namespace llmb::ingest {
namespace {

constexpr int kDepthMax = 64;
constexpr std::size_t kPathLengthMax = 4'000;
constexpr std::size_t kUnreadableMax = 1'000;
constexpr std::size_t kListingBytes = std::size_t{64} * 1024;

unsigned char type_of(int directory_fd, const char* name) {
  struct stat status {};
  if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    return DT_UNKNOWN;
  }
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

// The path of what is open, without links; nothing where there is no /proc.
std::optional<std::string> place_of(int fd) {
  std::error_code error;
  auto place = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
  return error ? std::nullopt : std::optional(std::move(place).string());
}

bool is_at_or_below(std::string_view place, std::string_view folder) {
  if (!place.starts_with(folder)) return false;
  return folder.ends_with('/') || place.size() == folder.size() || place[folder.size()] == '/';
}

bool is_log_by_name(std::string_view name) {
  const parser::FileRole role = parser::classify_file(name);
  return role == parser::FileRole::training_log || role == parser::FileRole::compressed_log;
}

bool is_dot_or_dot_dot(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

}  // namespace

bool may_be_candidate(std::string_view name) {
  return parser::uncompressed_name(name).ends_with(".out") || name.starts_with("llmb-config");
}

std::optional<FileFacts> stat_candidate(const Candidate& candidate) {
  struct stat status {};
  if (fstatat(candidate.directory_fd, candidate.name, &status,
              AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0 ||
      !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return file_facts(status);
}

TreeWalk::TreeWalk(std::shared_ptr<const RootDirectory> root, std::vector<std::string> pruned)
    : root_(std::move(root)), pruned_(std::move(pruned)), buffer_(kListingBytes) {}

void TreeWalk::add_directory(const std::string& relative_path) {
  if (std::find(pruned_.begin(), pruned_.end(), relative_path) != pruned_.end()) return;
  const auto depth =
      std::count(relative_path.begin(), relative_path.end(), '/') + (relative_path.empty() ? 0 : 1);
  pending_.push_back({relative_path, static_cast<int>(depth)});
}

int TreeWalk::step(const CandidateVisitor& on_candidate, const DirectoryVisitor& on_directory,
                   const Descends& descends) {
  directory_ = std::move(pending_.back());
  pending_.pop_back();
  operations_ = 2;
  OpenResult opened = root_->open_directory(directory_.relative_path);
  error_ = opened.error;
  if (error_ == 0 && on_directory) {
    on_directory({directory_.relative_path, opened.fd.get(), directory_.depth});
  }
  while (error_ == 0) {
    const ssize_t length = getdents64(opened.fd.get(), buffer_.data(), buffer_.size());
    if (length < 0) error_ = errno;
    if (length <= 0) break;
    for (ssize_t at = 0; at < length;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer_.data() + at);
      at += entry->d_reclen;
      take_entry(opened.fd.get(), entry->d_name, entry->d_type, entry->d_ino, on_candidate,
                 descends);
    }
  }
  // A directory that went away, or was replaced by something else, is not an error of the tree.
  const bool is_gone = error_ == ENOENT || error_ == ENOTDIR || error_ == ELOOP;
  if (error_ != 0 && (!is_gone || directory_.depth == 0)) {
    if (unreadable_.size() < kUnreadableMax) {
      unreadable_.push_back({directory_.relative_path, error_});
    }
  }
  return operations_;
}

void TreeWalk::take_link_entry(int directory_fd, const char* name) {
  if (!link_.empty()) return;
  const std::string_view view(name);
  // These are roots of their own (watched_trees.h).
  if (directory_.depth == 0 && parser::is_tree_folder(view)) return;
  ++operations_;
  const parser::FileDescriptor target(openat(directory_fd, name, O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!target.is_open() || fstat(target.get(), &status) != 0) return;  // it leads nowhere
  const bool is_log = S_ISREG(status.st_mode) && is_log_by_name(name);
  if (!is_log && !S_ISDIR(status.st_mode)) return;
  const auto place = place_of(target.get());
  const auto root = place_of(root_->fd());
  if (place && root && is_at_or_below(*place, *root)) return;  // it is met there
  link_ = directory_.relative_path.empty() ? name : directory_.relative_path + '/' + name;
}

void TreeWalk::take_entry(int directory_fd, const char* name, unsigned char type,
                          std::uint64_t inode, const CandidateVisitor& on_candidate,
                          const Descends& descends) {
  if (is_dot_or_dot_dot(name)) return;
  ++entries_seen_;
  if (type == DT_UNKNOWN) {
    ++operations_;
    type = type_of(directory_fd, name);
  }
  if (type == DT_LNK) return take_link_entry(directory_fd, name);
  if (type != DT_DIR && type != DT_REG) return;
  const std::string_view name_view(name);
  if (type == DT_REG && !may_be_candidate(name_view)) return;
  path_.assign(directory_.relative_path);
  if (!path_.empty()) path_ += '/';
  path_ += name_view;
  if (path_.size() > kPathLengthMax || directory_.depth >= kDepthMax) {
    if (unreadable_.size() < kUnreadableMax) unreadable_.push_back({path_, ENAMETOOLONG});
    return;
  }
  if (type == DT_DIR) {
    const bool is_pruned = std::find(pruned_.begin(), pruned_.end(), path_) != pruned_.end();
    if (!is_pruned && (!descends || descends(path_))) {
      pending_.push_back({path_, directory_.depth + 1});
    }
    return;
  }
  const parser::FileRole role = parser::classify_file(path_);
  if (role != parser::FileRole::training_log && role != parser::FileRole::compressed_log &&
      role != parser::FileRole::llmb_config) {
    return;
  }
  on_candidate({path_, role, inode, directory_fd, name});
}

}  // namespace llmb::ingest
