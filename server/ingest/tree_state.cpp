#include "server/ingest/tree_state.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "parser/layout/run_path.h"
#include "server/ingest/open_log.h"
#include "server/ingest/packed_form.h"
#include "server/unpacking/packing.h"

namespace llmb::ingest {
namespace {

// File systems stamp times coarsely: a directory that changed just now may change again without
// another time of modification.
constexpr std::chrono::nanoseconds kTimeGrain = std::chrono::seconds(2);
// The root and what lies directly below always have a watch: new experiments appear there.
constexpr int kAlwaysWatchedDepth = 1;
// As many logs are looked at by their paths from the root; more of them from their directory, which
// is opened for that.
constexpr std::size_t kLooksByPath = 3;
// A folder that seldom changes gets a watch after all others.
constexpr std::chrono::nanoseconds kSeldomChanges = std::chrono::hours(24 * 365 * 100);

std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t modified_ns_of(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// Where, in the path of what lies directly in it, the name begins.
std::size_t name_begin(const DirectoryState& directory) {
  return directory.relative_path.empty() ? 0 : directory.relative_path.size() + 1;
}

}  // namespace

TreeState::TreeState(WatchedRoot& root, FileTable& files, CallWatch& call_watch,
                     std::shared_ptr<WatchAllowance> allowance, Listener listener)
    : root_(root),
      files_(files),
      call_watch_(call_watch),
      allowance_(std::move(allowance)),
      listener_(std::move(listener)),
      plan_(allowance_) {}

void TreeState::reset() {
  directories_.clear();
  mounts_.clear();
  walk_.reset();
  plan_.clear();
  watch_.clear();
  for (FileIndex i = 0; i < files_.size(); ++i) files_.at(i).directory = kNoDirectory;
}

void TreeState::begin_walk() {
  if (!walk_) walk_.emplace(root_.directory, root_.pruned);
  if (root_.parts.is_whole()) {
    walk_->add_directory("");
  } else {
    // The last that is added is the first that is walked: what lies above comes first.
    const auto starts = root_.parts.starts();
    for (auto at = starts.rbegin(); at != starts.rend(); ++at) walk_->add_directory(*at);
  }
  walks_everything_ = true;
  ++walk_number_;
}

void TreeState::step_walk() {
  call_watch_.begin_call();
  Listing listing;
  const int operations =
      walk_->step([&](const Candidate& candidate) { take_candidate(listing.directory, candidate); },
                  [&](const OpenDirectory& open) { enter(open, listing); },
                  [&](const std::string& path) {
                    if (!root_.parts.descend_to(path)) return false;
                    if (walks_everything_) return true;
                    const auto known = directories_.find(path);
                    return !known || directories_.at(*known).is_gone;
                  });
  root_.budget.spend(operations);
  if (listing.directory != kNoDirectory) {
    leave(listing, walk_->error() == 0);
  } else if (!means_no_such_file(walk_->error())) {
    // It cannot be listed: known with no time of modification, so that every check tries again.
    const std::string& path = walk_->directory();
    directories_.add(path, static_cast<int>(std::count(path.begin(), path.end(), '/')) + 1);
  } else if (const auto known = directories_.find(walk_->directory())) {
    lose(*known);  // a link took its place, say, which a look at its path follows
  }
  if (walk_->is_done()) walks_everything_ = false;
}

std::vector<UnreadableDirectory> TreeState::take_unreadable() {
  return walk_ ? walk_->take_unreadable() : std::vector<UnreadableDirectory>();
}

std::string TreeState::take_link() {
  return walk_ ? walk_->take_link() : std::string();
}

bool TreeState::was_walked(DirectoryIndex index) const {
  return directories_.at(index).walk_seen == walk_number_;
}

void TreeState::enter(const OpenDirectory& open, Listing& listing) {
  struct stat status {};
  if (fstat(open.fd, &status) != 0) return;
  listing.directory = directories_.add(open.relative_path, open.depth);
  listing.modified_ns = modified_ns_of(status);
  DirectoryState& directory = directories_.at(listing.directory);
  const auto inode = static_cast<std::uint64_t>(status.st_ino);
  if (directory.inode != 0 && directory.inode != inode) unwatch_below(listing.directory);
  directory.device = status.st_dev;
  directory.inode = inode;
  directory.is_gone = false;
  directory.walk_seen = walk_number_;
  ++directory.listings;
  see_activity(listing.directory, listing.modified_ns);
  const bool has_above = directory.above != kNoDirectory;
  const std::uint64_t device_above =
      has_above ? directories_.at(directory.above).device : directory.device;
  listing.lacks_mount = !mounts_.see(open.relative_path, directory.device, device_above);
  // No watch of such a folder would tell that there is a mount again.
  if (!listing.lacks_mount) watch(listing.directory, open.fd);
}

void TreeState::leave(const Listing& listing, bool is_whole) {
  DirectoryState& directory = directories_.at(listing.directory);
  const bool may_change_unseen = wall_ns() - listing.modified_ns < kTimeGrain.count();
  const bool is_known = is_whole && !listing.lacks_mount;
  directory.modified_ns = is_known && !may_change_unseen ? listing.modified_ns : 0;
  if (!is_known) return;
  std::vector<FileIndex> unmet;
  std::erase_if(directory.logs, [&](FileIndex index) {
    const FileState& file = files_.at(index);
    const bool is_here = file.directory == listing.directory;
    const bool is_met = is_here && file.listing_seen == directory.listings;
    if (!is_met && is_here) unmet.push_back(index);
    return !is_met;
  });
  for (const FileIndex index : unmet) miss(index);
}

void TreeState::take_candidate(DirectoryIndex index, const Candidate& candidate) {
  if (index == kNoDirectory) return;
  const bool is_config = candidate.role == parser::FileRole::llmb_config;
  if (!is_config) {
    if (!root_.parts.hold(candidate.relative_path)) return;
    if (!is_log(candidate.relative_path, candidate.role)) return;
    if (const auto known = files_.find(candidate.relative_path)) {
      FileState& file = files_.at(*known);
      const bool is_as_before =
          file.directory == index && !file.is_vanished && file.memory.inode == candidate.inode;
      file.listing_seen = directories_.at(index).listings;
      if (is_as_before && !walks_everything_ && !is_local()) return;
    }
  }
  root_.budget.spend(1);
  call_watch_.begin_call();
  const auto facts = stat_candidate(candidate);
  if (!facts) return;
  if (is_config) {
    listener_.on_config(candidate.relative_path, *facts);
    return;
  }
  const auto known = files_.find(candidate.relative_path);
  take_log(index, known ? *known : files_.add(candidate.relative_path), *facts);
}

void TreeState::take_log(DirectoryIndex index, FileIndex file_index, const FileFacts& facts) {
  FileState& file = files_.at(file_index);
  DirectoryState& directory = directories_.at(index);
  file.listing_seen = directory.listings;
  if (file.directory != index || file.is_vanished) {
    file.directory = index;
    if (std::find(directory.logs.begin(), directory.logs.end(), file_index) ==
        directory.logs.end()) {
      directory.logs.push_back(file_index);
    }
    leave_packed_form(file.relative_path);
  }
  see_activity(index, facts.modified_ns);
  listener_.on_examined(file_index, facts);
}

void TreeState::check(DirectoryIndex index) {
  if (root_.directory == nullptr) return;
  call_watch_.begin_call();
  root_.budget.spend(1);
  const DirectoryState& directory = directories_.at(index);
  if (is_local() && directory.logs.size() > kLooksByPath) {
    check_opened(index);
    return;
  }
  // An idle scan waits for memory most of the time. The first log's path, which is needed next,
  // begins with the directory's: so one is fetched and not two.
  const std::string& path = directory.logs.empty()
                                ? directory.relative_path
                                : files_.at(directory.logs.front()).relative_path;
  path_.assign(path, 0, directory.relative_path.size());
  const auto status = root_.directory->stat_directory(path_);
  if (!status) {
    if (means_no_such_file(errno)) lose(index);
    return;
  }
  if (!list_if_changed(index, *status) && is_local()) check_logs(index, root_.directory->fd(), 0);
}

void TreeState::check_opened(DirectoryIndex index) {
  const DirectoryState& directory = directories_.at(index);
  const OpenResult opened = root_.directory->look_at_directory(directory.relative_path);
  struct stat status {};
  if (opened.error == 0 && fstat(opened.fd.get(), &status) == 0) {
    if (list_if_changed(index, status)) return;
    check_logs(index, opened.fd.get(), name_begin(directory));
  } else if (means_no_such_file(opened.error)) {
    lose(index);
  }
}

bool TreeState::list_if_changed(DirectoryIndex index, const struct stat& status) {
  const DirectoryState& directory = directories_.at(index);
  const bool is_as_before = directory.inode == static_cast<std::uint64_t>(status.st_ino) &&
                            directory.modified_ns == modified_ns_of(status);
  if (!is_as_before) list(directory.relative_path);
  return !is_as_before;
}

void TreeState::list(const std::string& relative_path) {
  if (!walk_) walk_.emplace(root_.directory, root_.pruned);
  walk_->add_directory(relative_path);
}

// `fd` with the logs' paths from `path_begin` on leads to them.
void TreeState::check_logs(DirectoryIndex index, int fd, std::size_t path_begin) {
  const DirectoryState& directory = directories_.at(index);
  std::vector<FileIndex> missed;  // the compressed form of one may become a log of this directory
  for (const FileIndex file_index : directory.logs) {
    struct stat found {};
    const char* const path = files_.at(file_index).relative_path.c_str() + path_begin;
    if (fstatat(fd, path, &found, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0 ||
        !S_ISREG(found.st_mode)) {
      missed.push_back(file_index);
      continue;
    }
    const FileFacts facts = file_facts(found);
    see_activity(index, facts.modified_ns);
    listener_.on_examined(file_index, facts);
  }
  for (const FileIndex file_index : missed) miss(file_index);
  // It was active later than a directory that has a watch: its listing takes that watch over.
  if (allowance_ && !directory.is_watched && !directory.logs.empty() &&
      plan_.would_evict_for(directory.active_at_ns)) {
    list(directory.relative_path);
  }
}

void TreeState::find_missing() {
  for (FileIndex index = 0; index < files_.size(); ++index) {
    const FileState& file = files_.at(index);
    if (file.is_vanished || file.directory != kNoDirectory) continue;
    if (root_.parts.hold(file.relative_path)) miss(index);
  }
}

// What a listing did not meet is gone only when its name says so too: it may have been renamed back
// just then.
void TreeState::miss(FileIndex index) {
  if (root_.directory == nullptr || files_.at(index).is_vanished) return;
  call_watch_.begin_call();
  root_.budget.spend(1);
  const std::string& path = files_.at(index).relative_path;
  const auto facts = root_.directory->stat_file(path);
  const int error = errno;
  const bool is_packed = unpacking::is_unpacked_by_name(path);
  if (facts && is_packed && !stands_for_its_log(path)) {
    listener_.on_missing(index);  // the log itself is there again
  } else if (facts) {
    listener_.on_examined(index, *facts);
  } else if (means_no_such_file(error) && !is_out_of_reach(path)) {
    listener_.on_missing(index);
    take_packed_form(index);
  }
}

bool TreeState::is_out_of_reach(const std::string& path) const {
  return root_.is_out_of_reach(path) || mounts_.is_missing_on_the_way(*root_.directory, path);
}

// Of a log that went away: it may have been compressed before it was read.
void TreeState::take_packed_form(FileIndex index) {
  const std::string log_path(parser::uncompressed_name(files_.at(index).relative_path));
  const std::size_t slash = log_path.rfind('/');
  const auto directory =
      directories_.find(slash == std::string::npos ? "" : log_path.substr(0, slash));
  if (!directory) return;
  for (const std::string& form : packed_names_of(log_path)) {
    root_.budget.spend(1);
    take_new_file(*directory, form);
  }
}

// A log came: its compressed form, where that was read, is the same log.
void TreeState::leave_packed_form(const std::string& path) {
  if (parser::uncompressed_name(path) != path) return;  // it is such a form itself
  for (const std::string& form : packed_names_of(path)) {
    const auto packed = files_.find(form);
    if (packed && !files_.at(*packed).is_vanished) listener_.on_missing(*packed);
  }
}

std::vector<std::string> TreeState::missing_mounts() const {
  return root_.directory ? mounts_.missing(*root_.directory) : std::vector<std::string>();
}

void TreeState::lose(DirectoryIndex index) {
  DirectoryState& directory = directories_.at(index);
  unwatch_below(index);
  if (is_out_of_reach(directory.relative_path)) return;
  directory.is_gone = true;
  // Where the folder above went, and comes back, nothing else says that this one is there again.
  if (directory.above != kNoDirectory) directories_.at(directory.above).modified_ns = 0;
  for (const FileIndex file : std::exchange(directory.logs, {})) miss(file);
}

void TreeState::see_activity(DirectoryIndex index, std::int64_t at_ns) {
  DirectoryState& directory = directories_.at(index);
  if (at_ns <= directory.active_at_ns) return;
  directory.active_at_ns = at_ns;
  if (directory.is_watched) plan_.offer(index, at_ns);
}

// Its rank among those that want a watch, as a time of activity.
std::int64_t TreeState::claim_ns(DirectoryIndex index, std::int64_t young_since_ns) const {
  const DirectoryState& directory = directories_.at(index);
  if (directory.depth <= kAlwaysWatchedDepth) return std::numeric_limits<std::int64_t>::max();
  // At its first listing nobody knows yet which logs are in it.
  const bool is_known = directory.listings > 1 || directory.modified_ns != 0;
  const bool comes_last = is_known && seldom_changes(directory, young_since_ns);
  return directory.active_at_ns - (comes_last ? kSeldomChanges.count() : 0);
}

void TreeState::make_watches_free(std::int64_t young_since_ns) {
  if (!allowance_) return;
  for (DirectoryIndex index = 0; index < directories_.size(); ++index) {
    if (directories_.at(index).is_watched) plan_.set(index, claim_ns(index, young_since_ns));
  }
}

void TreeState::watch(DirectoryIndex index, int fd) {
  DirectoryState& directory = directories_.at(index);
  if (!allowance_ || !is_local() || directory.is_watched) return;
  const WatchPlan::Choice choice = plan_.offer(index, claim_ns(index, young_since_ns()));
  if (choice.evicted) {
    watch_.remove(*choice.evicted);
    directories_.at(*choice.evicted).is_watched = false;
  }
  if (!choice.is_chosen) return;
  const DirectoryWatch::Added added = watch_.add(index, fd);
  directory.is_watched = added.kind == DirectoryWatch::Added::Kind::watched;
  if (added.displaced) {
    directories_.at(*added.displaced).is_watched = false;
    plan_.remove(*added.displaced);
  }
  if (directory.is_watched) return;
  plan_.remove(index);
  if (added.kind == DirectoryWatch::Added::Kind::limit_reached) plan_.stop_growing();
}

void TreeState::unwatch(DirectoryIndex index) {
  DirectoryState& directory = directories_.at(index);
  if (!directory.is_watched) return;
  directory.is_watched = false;
  plan_.remove(index);
  watch_.remove(index);
}

void TreeState::unwatch_below(DirectoryIndex index) {
  std::vector<DirectoryIndex> pending{index};
  while (!pending.empty()) {
    const DirectoryIndex next = pending.back();
    pending.pop_back();
    unwatch(next);
    const auto& children = directories_.at(next).children;
    pending.insert(pending.end(), children.begin(), children.end());
  }
}

bool TreeState::take_events() {
  if (!allowance_) return true;
  return watch_.drain([&](const DirectoryWatch::Event& event) { take_event(event); });
}

void TreeState::take_event(const DirectoryWatch::Event& event) {
  using Kind = DirectoryWatch::Event::Kind;
  DirectoryState& directory = directories_.at(event.directory);
  if (event.kind == Kind::unwatched) {
    directory.is_watched = false;
    plan_.remove(event.directory);
    unwatch_below(event.directory);
    check(event.directory);
    return;
  }
  if (root_.directory == nullptr || (!event.is_directory && !may_be_candidate(event.name))) return;
  std::string path = directory.relative_path;
  if (!path.empty()) path += '/';
  path += event.name;
  if (event.is_directory) {
    const auto known = directories_.find(path);
    if (known) unwatch_below(*known);
    if (event.kind == Kind::removed) {
      if (known) check(*known);
      return;
    }
    if (root_.parts.descend_to(path)) list(path);
    return;
  }
  const auto known = files_.find(path);
  if (event.kind == Kind::removed) {
    if (known) miss(*known);
  } else if (known && !files_.at(*known).is_vanished) {
    see_activity(event.directory, wall_ns());
    listener_.on_event(*known);
  } else {
    take_new_file(event.directory, path);
  }
}

void TreeState::take_new_file(DirectoryIndex index, const std::string& path) {
  call_watch_.begin_call();
  const auto facts = root_.directory->stat_file(path);
  if (!facts) return;
  const parser::FileRole role = parser::classify_file(path);
  if (role == parser::FileRole::llmb_config) {
    listener_.on_config(path, *facts);
  } else if (root_.parts.hold(path) && is_log(path, role)) {
    const auto known = files_.find(path);
    take_log(index, known ? *known : files_.add(path), *facts);
  }
}

// Whether the file is read as a log; where it is a compressed one that is not, and nothing else
// says so, the listener is told.
bool TreeState::is_log(const std::string& path, parser::FileRole role) {
  if (role != parser::FileRole::compressed_log) return role == parser::FileRole::training_log;
  if (unpacking::is_unpacked_by_name(path)) return stands_for_its_log(path);
  const bool is_known = files_.find(std::string(parser::uncompressed_name(path))).has_value();
  if (!is_known) listener_.on_compressed(path);
  return false;
}

// A compressed log is read where the log itself is not there, and no run has its text: neither that
// of the log itself, when it was, nor that of another compressed form.
bool TreeState::stands_for_its_log(const std::string& path) {
  const std::string log_path(parser::uncompressed_name(path));
  const auto known = files_.find(path);
  const bool has_run = known && files_.at(*known).memory.run != 0;
  if (const auto log = files_.find(log_path)) {
    FileState& file = files_.at(*log);
    if (!has_run && may_have_come_back(root_, file)) listener_.on_missing(*log);
    return file.is_vanished && !file.is_packed_away() && !file.memory.is_settled &&
           !file.memory.job_has_ended;
  }
  if (!has_run && other_form_has_run(path)) return false;
  if (known && files_.at(*known).directory != kNoDirectory) return true;  // as it did before
  root_.budget.spend(1);
  return !root_.directory->stat_file(log_path);
}

// Where that form went away, it is asked again whether this one takes its place.
bool TreeState::other_form_has_run(const std::string& path) {
  for (const std::string& name : packed_names_of(path)) {
    const auto form = files_.find(name);
    if (!form || name == path) continue;
    const FileState& file = files_.at(*form);
    if (may_have_come_back(root_, file)) listener_.on_missing(*form);
    if (file.memory.run != 0 && (!file.is_vanished || file.is_packed_away())) return true;
  }
  return false;
}

}  // namespace llmb::ingest
