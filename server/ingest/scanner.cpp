#include "server/ingest/scanner.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "parser/foundation/instant.h"
#include "server/ingest/poll_schedule.h"

namespace llmb::ingest {
namespace {

constexpr std::chrono::milliseconds kSlice{20};
constexpr std::chrono::milliseconds kBudgetPause{50};
constexpr int kShallowDepth = 2;  // where new experiments and launches appear
constexpr std::chrono::hours kWatchedSince{48};
constexpr std::chrono::hours kConfigMargin{1};

// Every number in a log's name that may be its job id.
template <typename Visit>
bool any_number(std::string_view name, Visit&& visit) {
  const char* at = name.data();
  const char* const end = at + name.size();
  while (at != end) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error == std::errc() && visit(number)) return true;
    at = rest;
  }
  return false;
}

std::string_view name_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

Scanner::Scanner(std::vector<WatchedRoot>& roots, FileTable& files, const IngestOptions& options,
                 CallWatch& call_watch, bool follows, Listener listener)
    : roots_(roots),
      files_(files),
      options_(options),
      call_watch_(call_watch),
      follows_(follows),
      listener_(std::move(listener)),
      watch_(follows ? options.directory_watches_max : 0) {}

bool Scanner::advance(SteadyTime now) {
  const WatchedCall call(call_watch_);
  bool has_more = false;
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const auto index = static_cast<RootIndex>(i);
    WatchedRoot& root = roots_[i];
    const bool may_begin = follows_ || !root.was_scanned;
    if (!root.scan && may_begin && now >= root.next_scan) begin_scan(index, now);
    has_more |= advance_root(index, now);
  }
  return has_more;
}

SteadyTime Scanner::next_work(SteadyTime now) const {
  SteadyTime next = SteadyTime::max();
  for (const WatchedRoot& root : roots_) {
    if (root.scan || (root.event_walk && !root.event_walk->is_done())) {
      next = std::min(next, now + kBudgetPause);  // it ran out of operations
    } else if (follows_ || !root.was_scanned) {
      next = std::min(next, root.next_scan);
    }
  }
  return next;
}

bool Scanner::every_root_was_scanned() const {
  return std::all_of(roots_.begin(), roots_.end(),
                     [](const WatchedRoot& root) { return root.was_scanned; });
}

void Scanner::begin_scan(RootIndex index, SteadyTime now) {
  WatchedRoot& root = roots_[index];
  root.reopen(options_.metadata_operations_per_s_max, now);
  ++root.scan_number;
  root.files_in_scan = 0;
  root.scan_work = {};
  root.scan_is_full = now >= root.next_full_scan;
  if (root.directory == nullptr) {
    end_scan(index, now);
    return;
  }
  root.scan.emplace(root.directory, root.pruned);
  root.scan->add_directory("");
}

// Measures its own time on the real clock: a slice is about this thread, not about the logs.
bool Scanner::advance_root(RootIndex index, SteadyTime now) {
  WatchedRoot& root = roots_[index];
  const auto begin = std::chrono::steady_clock::now();
  const auto on_directory = [&](const OpenDirectory& directory) {
    take_directory(index, directory);
  };
  while (root.event_walk && !root.event_walk->is_done() && root.budget.allows(now)) {
    call_watch_.begin_call();
    root.budget.spend(root.event_walk->step(
        [&](const Candidate& candidate) { take_candidate(index, candidate, false); },
        on_directory));
    if (std::chrono::steady_clock::now() - begin > kSlice) return true;
  }
  if (!root.scan) return false;
  bool is_slice_over = false;
  while (!root.scan->is_done() && !is_slice_over && root.budget.allows(now)) {
    call_watch_.begin_call();
    root.budget.spend(root.scan->step(
        [&](const Candidate& candidate) { take_candidate(index, candidate, true); }, on_directory));
    is_slice_over = std::chrono::steady_clock::now() - begin > kSlice;
  }
  root.scan_work += std::chrono::steady_clock::now() - begin;
  if (root.scan->is_done()) {
    end_scan(index, now);
    return false;
  }
  return is_slice_over;
}

void Scanner::end_scan(RootIndex index, SteadyTime now) {
  WatchedRoot& root = roots_[index];
  if (root.scan) {
    for (const UnreadableDirectory& unreadable : root.scan->unreadable()) {
      listener_.on_unreadable(root, unreadable);
      if (unreadable.relative_path.empty()) {
        root.error = "cannot list the root " + root.path + ": " + std::strerror(unreadable.error);
      }
    }
    root.scan.reset();
    if (root.error.empty()) find_missing(index);
    match_new_configs(index);
    if (root.scan_is_full) root.next_full_scan = now + options_.full_scan_interval;
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(root.scan_work);
  root.next_scan = now + scan_pause(took, options_.scan_interval);
  root.was_scanned = true;
  listener_.on_scan_end(root);
}

// What a scan did not meet is gone only when its name says so too: its directory may have been
// unreadable just then.
void Scanner::find_missing(RootIndex index) {
  const WatchedRoot& root = roots_[index];
  for (FileIndex file_index = 0; file_index < files_.size(); ++file_index) {
    const FileState& file = files_.at(file_index);
    if (file.root != index || file.is_vanished || file.scan_seen == root.scan_number) continue;
    call_watch_.begin_call();
    const auto facts = root.directory->stat_file(file.relative_path);
    const int error = errno;
    if (facts) {
      listener_.on_examined(file_index, *facts);
    } else if (error == ENOENT || error == ENOTDIR || error == EISDIR || error == ELOOP ||
               error == ENXIO) {
      listener_.on_missing(file_index);
    }
  }
}

void Scanner::match_new_configs(RootIndex index) {
  WatchedRoot& root = roots_[index];
  if (root.new_configs.empty()) return;
  std::unordered_set<std::string> paths;
  std::unordered_set<std::int64_t> jobs;
  std::unordered_set<std::string_view> directories;
  for (const std::string& path : root.new_configs) {
    jobs.insert(job_id_of_config(path).value_or(0));
    directories.insert(directory_of(path));
    paths.insert(path);
  }
  for (FileIndex file_index = 0; file_index < files_.size(); ++file_index) {
    const FileState& file = files_.at(file_index);
    if (file.root != index || file.is_vanished) continue;
    // The name's numbers first: parsing every path would take longer than the scan.
    const bool may_match = directories.contains(directory_of(file.relative_path)) ||
                           any_number(name_of(file.relative_path),
                                      [&](std::int64_t number) { return jobs.contains(number); });
    if (!may_match) continue;
    const auto job_id = parser::parse_run_path(file.relative_path).job_id;
    if (paths.contains(root.configs.config_for(file.relative_path, job_id))) {
      listener_.on_configuration(file_index);
    }
  }
  root.new_configs.clear();
}

void Scanner::take_candidate(RootIndex index, const Candidate& candidate, bool is_scan) {
  if (candidate.role == parser::FileRole::training_log) {
    take_log(index, candidate, is_scan);
    return;
  }
  WatchedRoot& root = roots_[index];
  root.budget.spend(1);
  if (const auto facts = stat_candidate(candidate)) {
    take_config(index, candidate.relative_path, *facts);
  }
}

void Scanner::take_log(RootIndex index, const Candidate& candidate, bool is_scan) {
  WatchedRoot& root = roots_[index];
  if (is_scan) ++root.files_in_scan;
  auto known = files_.find(index, candidate.relative_path);
  if (known) {
    FileState& file = files_.at(*known);
    file.scan_seen = root.scan_number;
    const bool is_as_before = !file.is_vanished && file.inode == candidate.inode;
    if (is_as_before && is_scan && !root.scan_is_full) return;
  }
  root.budget.spend(1);
  call_watch_.begin_call();
  const auto facts = stat_candidate(candidate);
  if (!facts) return;
  if (!known) {
    known = files_.add(index, candidate.relative_path);
    files_.at(*known).scan_seen = root.scan_number;
  }
  listener_.on_examined(*known, *facts);
}

void Scanner::take_config(RootIndex index, const std::string& relative_path,
                          const FileFacts& facts) {
  WatchedRoot& root = roots_[index];
  if (!root.configs.note(relative_path, facts.inode, facts.changed_ns)) return;
  const bool was_applied_before =
      root.configs_known_until &&
      parser::instant_of_unix_ns(facts.changed_ns) < *root.configs_known_until - kConfigMargin;
  if (!was_applied_before) root.new_configs.push_back(relative_path);
}

void Scanner::take_directory(RootIndex index, const OpenDirectory& directory) {
  if (!follows_ || roots_[index].kind != FileSystemKind::local) return;
  if (directory.depth > kShallowDepth) {
    struct stat status {};
    if (fstat(directory.fd, &status) != 0) return;
    const auto modified = std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec);
    if (std::chrono::system_clock::now() - modified > kWatchedSince) return;
  }
  watch_.add(index, directory.relative_path, directory.fd);
}

void Scanner::take_events() {
  const WatchedCall call(call_watch_);
  const bool is_whole =
      watch_.drain([&](const DirectoryWatch::Event& event) { take_event(event); });
  if (is_whole) return;
  for (WatchedRoot& root : roots_) {
    root.next_scan = {};
    root.next_full_scan = {};
  }
}

void Scanner::take_event(const DirectoryWatch::Event& event) {
  const auto index = static_cast<RootIndex>(event.root);
  WatchedRoot& root = roots_[index];
  if (root.directory == nullptr || (!event.is_directory && !may_be_candidate(event.name))) return;
  std::string path = event.directory;
  if (!path.empty()) path += '/';
  path += event.name;
  if (event.is_directory) {
    if (!root.event_walk) root.event_walk.emplace(root.directory, root.pruned);
    root.event_walk->add_directory(path);
    return;
  }
  if (const auto known = files_.find(index, path); known && !files_.at(*known).is_vanished) {
    listener_.on_event(*known);
    return;
  }
  call_watch_.begin_call();
  const auto facts = root.directory->stat_file(path);
  if (!facts) return;
  switch (parser::classify_file(path)) {
    case parser::FileRole::llmb_config:
      take_config(index, path, *facts);
      break;
    case parser::FileRole::training_log: {
      const auto known = files_.find(index, path);
      const FileIndex file = known ? *known : files_.add(index, path);
      files_.at(file).scan_seen = root.scan_number;
      listener_.on_examined(file, *facts);
      break;
    }
    default:
      break;
  }
}

}  // namespace llmb::ingest
