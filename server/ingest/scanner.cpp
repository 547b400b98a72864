#include "server/ingest/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace llmb::ingest {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kSlice{20};
constexpr milliseconds kScanPause{50};
constexpr milliseconds kBetweenMatches{1'000};
constexpr std::size_t kFavouredMax = 2'048;
constexpr std::size_t kFavouredMaxRemote = 256;
// Writes through a memory map make no event.
constexpr std::uint32_t kScansForWatchedFolders = 64;

// This thread's: a busy machine makes a scan slow, not expensive.
nanoseconds processor_time() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
}

}  // namespace

Scanner::Scanner(WatchedRoot& root, FileTable& files, const IngestOptions& options,
                 CallWatch& call_watch, std::shared_ptr<WatchAllowance> allowance,
                 Listener listener)
    : root_(root),
      files_(files),
      options_(options),
      call_watch_(call_watch),
      follows_(allowance != nullptr),
      listener_(std::move(listener)),
      tree_(root, files, call_watch, std::move(allowance),
            {listener_.on_examined, listener_.on_event, listener_.on_missing,
             [this](const std::string& path, const FileFacts& facts) {
               new_configs_.note(root_, path, facts);
             },
             listener_.on_compressed}) {}

bool Scanner::advance(SteadyTime now) {
  const WatchedCall call(call_watch_);
  const bool may_begin = follows_ || !was_scanned_;
  if (!is_scanning_ && may_begin && now >= next_scan_) begin_scan(now);
  // Measured on the real clock: a slice is about this thread, not about the logs.
  const auto begin = std::chrono::steady_clock::now();
  const nanoseconds processor_begin = processor_time();
  const nanoseconds listed_before = scan_cost_.listings;
  bool is_slice_over = false;
  bool has_more = true;
  while (has_more && !is_slice_over && root_.budget.allows(now)) {
    has_more = work_once(now);
    is_slice_over = std::chrono::steady_clock::now() - begin > kSlice;
  }
  if (is_scanning_) {
    scan_work_ += std::chrono::steady_clock::now() - begin;
    const nanoseconds listings = scan_cost_.listings - listed_before;
    scan_cost_.checks += processor_time() - processor_begin - listings;
    if (!has_more) end_scan(now);
  }
  match_configs(now);
  return has_more && is_slice_over;
}

bool Scanner::work_once(SteadyTime now) {
  if (root_.directory == nullptr) return false;
  if (!tree_.walk_is_done()) {
    const nanoseconds begin = processor_time();
    tree_.step_walk();
    scan_cost_.listings += processor_time() - begin;
    return true;
  }
  return (is_scanning_ && check_next()) || check_next_favoured(now);
}

void Scanner::begin_scan(SteadyTime now) {
  is_scanning_ = true;
  ++scan_number_;
  scan_work_ = {};
  scan_cost_ = {};
  next_directory_ = 0;
  young_since_ns_ = young_since_ns();
  const bool is_another = root_.reopen(options_.metadata_operations_per_s_max, now);
  if (root_.directory == nullptr) return;
  if (is_another) {
    // A mount came or went: look at everything again.
    tree_.reset();
    favoured_.clear();
  }
  scan_is_full_ = is_another || now >= next_full_scan_;
  if (scan_is_full_) tree_.begin_walk();
}

bool Scanner::is_to_be_checked(DirectoryIndex index) {
  const DirectoryState& directory = tree_.directories().at(index);
  if (directory.is_gone) return false;
  if (scan_is_full_) return !tree_.was_walked(index);
  if (directory.is_watched) return (scan_number_ + index) % kScansForWatchedFolders == 0;
  const bool may_wait = directory.modified_ns != 0 && seldom_changes(directory, young_since_ns_);
  if (!may_wait || (scan_number_ + index) % scans_for_seldom_ == 0) return true;
  ++scan_cost_.passed_over;
  return false;
}

bool Scanner::check_next() {
  while (next_directory_ < tree_.directories().size()) {
    const DirectoryIndex index = next_directory_++;
    if (!is_to_be_checked(index)) continue;
    ++scan_cost_.checked;
    tree_.check(index);
    return true;
  }
  return false;
}

bool Scanner::check_next_favoured(SteadyTime now) {
  if (is_scanning_ || now < favoured_due_) return false;
  while (next_favoured_ < favoured_.size()) {
    const DirectoryIndex index = favoured_[next_favoured_++];
    const DirectoryState& directory = tree_.directories().at(index);
    if (directory.is_watched || directory.is_gone) continue;
    tree_.check(index);
    return true;
  }
  next_favoured_ = 0;
  favoured_due_ = now + options_.scan_interval;
  return false;
}

// Those without a watch that were active last, where scans are far apart.
void Scanner::choose_favoured() {
  favoured_.clear();
  next_favoured_ = 0;
  const DirectoryTable& directories = tree_.directories();
  for (DirectoryIndex i = 0; i < directories.size(); ++i) {
    const DirectoryState& directory = directories.at(i);
    const bool is_young = directory.active_at_ns >= young_since_ns_;
    if (is_young && !directory.is_watched && !directory.is_gone) favoured_.push_back(i);
  }
  const std::size_t most = root_.kind == FileSystemKind::local ? kFavouredMax : kFavouredMaxRemote;
  if (favoured_.size() <= most) return;
  std::nth_element(favoured_.begin(), favoured_.begin() + static_cast<std::ptrdiff_t>(most),
                   favoured_.end(), [&](DirectoryIndex a, DirectoryIndex b) {
                     return directories.at(a).active_at_ns > directories.at(b).active_at_ns;
                   });
  favoured_.resize(most);
}

void Scanner::end_scan(SteadyTime now) {
  is_scanning_ = false;
  for (const UnreadableDirectory& unreadable : tree_.take_unreadable()) {
    listener_.on_unreadable(unreadable);
    if (unreadable.relative_path.empty()) {
      root_.error =
          fmt::format("cannot list the root {}: {}", root_.path, std::strerror(unreadable.error));
    }
  }
  const std::string link = tree_.take_link();
  if (!link.empty()) listener_.on_link(link);
  if (root_.directory != nullptr && scan_is_full_) {
    if (root_.error.empty()) tree_.find_missing();
    tree_.make_watches_free(young_since_ns_);
    next_full_scan_ = now + options_.full_scan_interval;
  }
  tell_missing_mounts();
  const bool is_local = root_.kind == FileSystemKind::local;
  scan_cost_.took = scan_work_;
  // After a full scan it is measured anew what all of them take.
  scans_for_seldom_ = scan_is_full_ ? 1 : scans_for_seldom_changed(scan_cost_);
  if (!is_local) scans_for_seldom_ = kScansForSeldomChanged;
  const milliseconds pause = is_local
                                 ? local_scan_pause(scan_cost_, options_.scan_interval)
                                 : scan_pause(std::chrono::duration_cast<milliseconds>(scan_work_),
                                              options_.scan_interval);
  if (is_local) advise(pause);
  next_scan_ = now + pause;
  favoured_due_ = SteadyTime::max();
  if (follows_ && root_.directory != nullptr && pause > 2 * options_.scan_interval) {
    choose_favoured();
    favoured_due_ = now + options_.scan_interval;
  }
  configs_due_ = now;
  was_scanned_ = true;
  listener_.on_scan_end(scan_work_);
}

void Scanner::advise(milliseconds pause) {
  if (!follows_ || scan_is_full_ || has_advised_) return;
  const double share = std::chrono::duration<double>(scan_cost_.checks) / (scan_work_ + pause);
  const auto advice = advice_on_watches({tree_.watches(), tree_.directories().size(), share});
  if (!advice) return;
  has_advised_ = true;
  listener_.on_advice(*advice);
}

void Scanner::tell_missing_mounts() {
  if (!root_.error.empty()) return;
  const std::vector<std::string> missing = tree_.missing_mounts();
  if (!missing.empty()) {
    root_.error = fmt::format(
        "below the root {} nothing is mounted any more at {}; the logs that were read there are "
        "kept as they are until it is. Start again where the folder itself is meant",
        root_.path, fmt::join(missing, ", "));
    return;
  }
  for (const MissedFolder& folder : root_.missed_folders) {
    if (!folder.is_empty) continue;
    root_.error = fmt::format("{}/{} {}", root_.path, folder.name,
                              empty_place_words(folder.name, folder.logs_missed));
    return;
  }
}

// Looks at every log's name: not with every event.
void Scanner::match_configs(SteadyTime now) {
  if (is_scanning_ || new_configs_.empty() || now < configs_due_) return;
  configs_due_ = now + kBetweenMatches;
  new_configs_.match(root_, files_, listener_.on_configuration);
}

SteadyTime Scanner::next_work(SteadyTime now) const {
  if (is_scanning_ || !tree_.walk_is_done()) return now + kScanPause;  // out of operations
  SteadyTime next = favoured_due_;
  if (follows_ || !was_scanned_) next = std::min(next, next_scan_);
  if (!new_configs_.empty()) next = std::min(next, configs_due_);
  return next;
}

void Scanner::take_events() {
  const WatchedCall call(call_watch_);
  if (tree_.take_events()) return;
  // Events were lost: every directory may have changed.
  next_scan_ = {};
  next_full_scan_ = {};
}

}  // namespace llmb::ingest
