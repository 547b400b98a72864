// The other half of Discovery: what it makes of outcomes, and what it tells the world.
#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>

#include "parser/foundation/instant.h"
#include "server/ingest/discovery.h"

namespace llmb::ingest {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAgain{300};    // after a shrink that is not believed yet
constexpr milliseconds kPostponed{1'000};  // after the database was busy
constexpr int kPostponedAtMost = 10;
constexpr milliseconds kBetweenEvents{50};  // one wake-up serves all events of that time
constexpr milliseconds kLongestSleep{500};  // an injected clock may jump
constexpr std::chrono::hours kBetweenLogLines{1};
constexpr std::chrono::minutes kBetweenScanRecords{1};

}  // namespace

void Discovery::take_outcome(const FileOutcome& outcome, SteadyTime now) {
  FileState& file = files_.at(outcome.file);
  --with_readers_;
  --queued_;
  file.is_queued = false;
  unfinished_.erase(outcome.file);
  switch (outcome.kind) {
    case FileOutcome::Kind::committed:
    case FileOutcome::Kind::unchanged:
      take_progress(outcome, now);
      return;
    case FileOutcome::Kind::shorter:
      if (file.shrink_polls < UINT8_MAX) ++file.shrink_polls;
      look_again(outcome.file, now + kLookAgain);
      return;
    case FileOutcome::Kind::postponed:
      if (may_log_again("postponed", now)) {
        spdlog::warn("the database cannot be read just now: {}", outcome.error);
      }
      // --once must end, even when the database does not recover.
      if (!follows_ && ++file.failures > kPostponedAtMost) {
        park(outcome.file, outcome.error, now);
      } else {
        look_again(outcome.file, now + kPostponed);
      }
      return;
    case FileOutcome::Kind::vanished:
      // A scan that finds no such name marks it so; a rename may be going on.
      files_.schedule(outcome.file, now + intervals_.warm);
      set_pending(file, 0);
      return;
    case FileOutcome::Kind::failed:
      park(outcome.file, outcome.error, now);
      return;
  }
}

void Discovery::take_progress(const FileOutcome& outcome, SteadyTime now) {
  FileState& file = files_.at(outcome.file);
  file.failures = 0;
  file.shrink_polls = 0;
  if (file.is_parked) {
    file.is_parked = false;
    --parked_;
    links_.writes.push_at_once(UnparkedFile{roots_[file.root].id, file.relative_path});
  }
  file.window_is_judged = !outcome.is_configuration;
  if (!outcome.is_configuration) {
    file.run = outcome.run;
    file.generation = outcome.generation;
    file.inode = outcome.facts.inode;
    file.offset = outcome.offset;
    file.size_seen = outcome.read_to;
    file.modified_ns_seen = outcome.facts.modified_ns;
    file.step_time_s_mean = static_cast<float>(outcome.step_time_s_mean);
    file.step_time_s_typical = static_cast<float>(outcome.step_time_s_typical);
    file.silence_is_judged = outcome.silence_is_judged;
    file.job_has_ended = outcome.job_has_ended;
    file.is_settled = outcome.is_settled;
    file.silent_since = outcome.silent_since;
    file.was_read_to_end |= outcome.reached_end;
  }
  const std::uint64_t size = outcome.facts.size_bytes;
  set_pending(file, !outcome.reached_end && size > file.offset ? size - file.offset : 0);
  const bool was_postponed = outcome.is_configuration && file.is_changed_again;
  if (!outcome.reached_end || file.wants_configuration || was_postponed) {
    enqueue(outcome.file);
  } else if (file.is_changed_again && follows_) {
    files_.schedule(outcome.file, now);
  } else {
    schedule_next(outcome.file, now);
  }
}

void Discovery::look_again(FileIndex index, SteadyTime at) {
  unfinished_.insert(index);
  files_.schedule(index, at);
}

void Discovery::schedule_next(FileIndex index, SteadyTime now) {
  if (!follows_) return;
  FileState& file = files_.at(index);
  const auto since_growth = std::chrono::duration_cast<milliseconds>(now - file.silent_since);
  const auto interval = poll_interval(
      temperature({since_growth, file.step_time_s_mean, file.job_has_ended}), intervals_);
  SteadyTime due = SteadyTime::max();
  if (interval) {
    // Long intervals are spread, so that files that were found together are not polled together.
    const milliseconds spread = *interval > intervals_.hot ? *interval / 4 : milliseconds(0);
    due = now + *interval - spread * (index % 16) / 16;
  }
  if (!file.is_settled) {
    due = std::min(due, now + std::max(intervals_.hot, next_verdict(file) - since_growth));
  }
  files_.schedule(index, due);
}

void Discovery::park(FileIndex index, const std::string& reason, SteadyTime now) {
  FileState& file = files_.at(index);
  if (!file.is_parked) ++parked_;
  file.is_parked = true;
  if (file.failures < UINT16_MAX) ++file.failures;
  set_pending(file, 0);
  const auto rest = park_interval(file.failures, options_.park_first, options_.park_longest);
  if (follows_) files_.schedule(index, now + rest);
  const WatchedRoot& root = roots_[file.root];
  if (may_log_again(root.path + '/' + file.relative_path, now)) {
    spdlog::warn("{}/{}: {}; it is left alone for {} s, and tried again", root.path,
                 file.relative_path, reason, rest.count() / 1'000);
  }
  const WallTime wall = links_.clock.wall();
  links_.writes.push_at_once(storage::ParkedFile{root.id, file.relative_path, reason,
                                                 parser::instant_text(wall),
                                                 parser::instant_text(wall + rest), file.failures});
}

void Discovery::mark_missing(FileIndex index) {
  FileState& file = files_.at(index);
  file.is_vanished = true;
  ++vanished_;
  files_.schedule(index, SteadyTime::max());
  unfinished_.erase(index);
  set_pending(file, 0);
  const storage::RootId root = roots_[file.root].id;
  if (file.is_parked) {
    file.is_parked = false;
    --parked_;
    links_.writes.push_at_once(UnparkedFile{root, file.relative_path});
  }
  if (file.run == 0) return;
  links_.writes.push_at_once(
      VanishedFile{root, file.relative_path, parser::instant_text(links_.clock.wall())});
}

void Discovery::note_scan(const WatchedRoot& root) {
  const SteadyTime now = links_.clock.steady();
  if (!root.error.empty() && may_log_again(root.path, now)) {
    spdlog::warn("{}; it is tried again with every scan", root.error);
  }
  if (root.error.empty()) logged_at_.erase(root.path);
  // A scan that tells nothing new is recorded once in a while only.
  const std::string key =
      "scan " + root.path + ' ' + root.error + ' ' + std::to_string(root.files_in_scan);
  auto& last = scan_recorded_[root.id];
  if (last.first == key && now - last.second < kBetweenScanRecords) return;
  last = {key, now};
  links_.writes.push_at_once(ScanRecord{root.id, parser::instant_text(links_.clock.wall()),
                                        std::chrono::duration<double>(root.scan_work).count(),
                                        root.files_in_scan, root.error});
}

void Discovery::note_unreadable(const WatchedRoot& root, const UnreadableDirectory& directory) {
  if (!may_log_again(root.path + '/' + directory.relative_path, links_.clock.steady())) return;
  spdlog::warn("{}/{}: cannot list it: {}; the logs in it are not seen", root.path,
               directory.relative_path, std::strerror(directory.error));
}

bool Discovery::may_log_again(const std::string& key, SteadyTime now) {
  const auto [entry, is_new] = logged_at_.try_emplace(key, now);
  if (!is_new && now - entry->second < kBetweenLogLines) return false;
  entry->second = now;
  return true;
}

void Discovery::set_pending(FileState& file, std::uint64_t bytes) {
  pending_bytes_ = pending_bytes_ - file.pending_bytes + bytes;
  file.pending_bytes = bytes;
}

void Discovery::publish() {
  links_.activity.update([&](RootStatus& status) {
    status.first_scan_done = scanner_.every_root_was_scanned();
    status.files_seen = static_cast<std::int64_t>(files_.size()) - vanished_;
    status.files_pending = queued_;
    status.files_parked = parked_;
    status.bytes_pending = pending_bytes_;
    status.error.clear();
    for (const WatchedRoot& root : roots_) status.error += root.error;
  });
}

void Discovery::wait(SteadyTime now, bool has_more) {
  if (has_more) return;
  const SteadyTime next = std::min(files_.next_due(), scanner_.next_work(now));
  milliseconds timeout = kLongestSleep;
  if (next <= now) {
    timeout = milliseconds(0);
  } else if (next - now < timeout) {
    timeout = std::chrono::ceil<milliseconds>(next - now);
  }
  // Events are left to gather for a while: a log that is written all the time wakes us seldom.
  const bool takes_events = std::chrono::steady_clock::now() - events_taken_at_ >= kBetweenEvents;
  if (!takes_events) timeout = std::min(timeout, kBetweenEvents);
  pollfd waits[2] = {{links_.outcomes.fd(), POLLIN, 0}, {scanner_.event_fd(), POLLIN, 0}};
  const nfds_t count = takes_events && scanner_.event_fd() >= 0 ? 2 : 1;
  ::poll(waits, count, static_cast<int>(timeout.count()));
}

}  // namespace llmb::ingest
