#include "server/ingest/discovery.h"

#include <poll.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "parser/foundation/instant.h"
#include "parser/reader/reading.h"
#include "server/ingest/log_tail.h"
#include "server/ingest/memory_shortage.h"
#include "server/ingest/packed_form.h"

namespace llmb::ingest {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenReads{100};  // of one file, however often it is written
constexpr milliseconds kBetweenEvents{50};  // one wake-up serves all events of that time
constexpr milliseconds kBudgetPause{100};
constexpr milliseconds kLookAgain{300};    // after a shrink that is not believed yet
constexpr milliseconds kPostponed{1'000};  // after the database was busy
constexpr int kPostponedAtMost = 10;
constexpr std::chrono::seconds kBetweenJobLooks{30};  // at the job of a log that says nothing
constexpr milliseconds kLongestSleep{500};            // an injected clock may jump
constexpr std::chrono::minutes kHotFor{2};
constexpr int kRereadsAtOnce = 64;  // so that the writer stores many at a time

// Live logs have most of what may be open.
std::size_t rereads_at_once(const IngestOptions& options) {
  return static_cast<std::size_t>(std::clamp(options.open_files_max / 4, 1, kRereadsAtOnce));
}

}  // namespace

Discovery::Discovery(WatchedRoot root, const IngestOptions& options, Links links,
                     std::shared_ptr<WatchAllowance> allowance)
    : root_(std::move(root)),
      options_(options),
      links_(links),
      follows_(allowance != nullptr),
      intervals_{options.hot_interval, options.warm_interval, options.cold_interval},
      reports_(root_, links.writes, links.activity, links.clock, follows_),
      readers_(root_, files_, links.jobs, links.clock, options.open_files_max),
      rereads_(files_, rereads_at_once(options), follows_,
               [this](FileIndex index) { tell_refusal(index); }),
      scanner_(root_, files_, options, links.watch, std::move(allowance), make_listener()),
      content_checks_(options.content_check_interval, options.content_check_bytes_per_s) {}

Scanner::Listener Discovery::make_listener() {
  Scanner::Listener listener;
  listener.on_examined = [this](FileIndex file, const FileFacts& facts) { examine(file, facts); };
  listener.on_event = [this](FileIndex file) { see_event(file); };
  listener.on_missing = [this](FileIndex file) { mark_missing(file); };
  listener.on_compressed = [this](const std::string& path) { reports_.leaves_compressed(path); };
  listener.on_configuration = [this](FileIndex index) {
    files_.at(index).wants_configuration = true;
    if (files_.at(index).memory.run != 0) readers_.enqueue(index);
  };
  listener.on_scan_end = [this](std::chrono::steady_clock::duration work) {
    const auto known = static_cast<std::int64_t>(files_.size());
    reports_.scan_ended(work, known - files_.sums().vanished);
  };
  listener.on_unreadable = [this](const UnreadableDirectory& directory) {
    reports_.cannot_list(directory);
  };
  listener.on_link = [this](const std::string& path) { reports_.leaves_link(path); };
  listener.on_advice = [this](const std::string& advice) { reports_.advise(advice); };
  return listener;
}

void Discovery::restore(const KnownLogs& known) {
  for (const auto& before : known.files) {
    if (before.root_id != root_.id || root_.leaves_out(before.relative_path)) continue;
    FileState& file = files_.at(files_.add(before.relative_path));
    LogMemory memory;
    memory.run = before.run;
    memory.generation = before.generation;
    memory.inode = before.cursor.inode;
    memory.offset = before.cursor.offset;
    memory.size_seen = before.cursor.offset;
    if (const auto grown_at = parser::parse_instant(before.grown_at)) {
      memory.silent_since = steady_time_of(links_.clock, *grown_at);
    }
    if (const auto tail = storage::decode_tail_state(before.cursor.parser_state)) {
      memory.modified_us_seen = tail->modified_us;
      // Where it is not said why a window was chosen, or the tree's GPU may be news, one more look
      // does. A status is no sign: a log whose only step is held back for a further line has no
      // data until it settles.
      const bool has_gpu_of_tree = root_.gpu_type.empty() || before.gpu_type == root_.gpu_type;
      memory.is_settled = tail->settled_size != 0 && before.has_window_source && has_gpu_of_tree;
    }
    memory.job_has_ended = before.status == parser::RunStatus::complete;
    memory.is_of_earlier_reading = before.reading < parser::kReading;
    files_.set_memory(file, memory);
    file.wants_verdict = !memory.is_settled;  // its job may have ended meanwhile
    files_.set_vanished(file, before.is_vanished);
    if (!before.is_vanished) root_.miss_log(before.relative_path);
  }
  for (const auto& before : known.removed) {
    if (before.root_id != root_.id || root_.leaves_out(before.relative_path)) continue;
    LogMemory& memory = files_.at(files_.add(before.relative_path)).memory;
    memory.is_removed = memory.is_settled = memory.job_has_ended = true;
    root_.miss_log(before.relative_path);
  }
  for (const auto& before : known.parked) {
    if (before.root_id != root_.id) continue;
    // Tried again by the first scan; the notice goes when that succeeds.
    const auto index = files_.find(before.relative_path);
    if (!index) {
      reports_.unparked(before.relative_path);
      continue;
    }
    files_.set_parked(files_.at(*index), true);
  }
  if (options_.reads_anew) rereads_.begin();
}

void Discovery::run() {
  while (!links_.stop.load()) {
    bool is_over = false;
    if (!had_memory_for([&] { is_over = !run_once(); })) {
      reports_.lacks_memory();
      std::this_thread::sleep_for(kUntilMemoryIsFree);
    }
    if (is_over) return;
  }
}

// False: all was read, and nothing is followed.
bool Discovery::run_once() {
  SteadyTime now = links_.clock.steady();
  for (const FileOutcome& outcome : links_.outcomes.take_all()) {
    if (!had_memory_for([&] { take_outcome(outcome, now); })) reports_.lacks_memory();
  }
  for (const storage::RunId run : links_.outcomes.take_runs()) ask_for_verdict(run);
  const auto real_now = std::chrono::steady_clock::now();
  if (real_now - events_taken_at_ >= kBetweenEvents) {
    scanner_.take_events();
    events_taken_at_ = real_now;
  }
  const bool has_more = scanner_.advance(now);
  now = links_.clock.steady();
  poll_due(now);
  if (follows_) {
    if (const auto index = content_checks_.take_due(files_, now)) readers_.enqueue(*index);
  }
  if (scanner_.was_scanned()) begin_rereads(now);
  readers_.dispatch(intervals_.warm);
  reports_.publish(files_, scanner_.was_scanned());
  if (!follows_ && is_finished()) return false;
  wait(now, has_more);
  return true;
}

bool Discovery::is_finished() const {
  const bool has_rereads = root_.directory != nullptr && !rereads_.is_done();
  return scanner_.was_scanned() && readers_.is_idle() && unfinished_.empty() && !has_rereads;
}

// After the first scan: by then it is known which logs are there, and what is new comes first.
void Discovery::begin_rereads(SteadyTime now) {
  rereads_.take_dropped(now);
  while (root_.directory != nullptr && root_.budget.allows(now)) {
    const auto index = rereads_.take_next(unfinished_, now);
    if (!index) return;
    root_.budget.spend(2);  // it is opened, and examined
    files_.set_pending(files_.at(*index), files_.at(*index).memory.offset);
    readers_.enqueue_reread(*index);
  }
}

// `facts` are fresh: is there anything to read, or to check?
void Discovery::examine(FileIndex index, const FileFacts& facts) {
  FileState& file = files_.at(index);
  if (files_.set_vanished(file, false) && file.memory.run != 0) {
    reports_.returned(file.relative_path);
  }
  if (file.is_parked && file.due != SteadyTime::max()) return;
  const LogMemory& log = file.memory;
  const bool is_changed = log.size_seen != facts.size_bytes || !log.was_seen_as(facts);
  const SteadyTime now = links_.clock.steady();
  const bool may_have_ended = !log.is_settled && now - file.read_at >= kBetweenJobLooks;
  const bool is_unread = log.run == 0 && !log.is_removed;
  if (is_unread || is_changed || file.is_parked || is_verdict_due(log, now) || file.wants_verdict ||
      (follows_ && may_have_ended)) {
    files_.set_pending(file, facts.size_bytes > log.offset ? facts.size_bytes - log.offset : 0);
    readers_.enqueue(index);
    return;
  }
  file.shrink_polls = 0;
  unfinished_.erase(index);
  if (file.due == SteadyTime::max() && !file.is_queued) schedule_next(index, now);
}

void Discovery::see_event(FileIndex index) {
  FileState& file = files_.at(index);
  if (file.is_queued) {
    file.is_changed_again = true;
  } else if (!file.is_parked) {
    const SteadyTime at = std::max(links_.clock.steady(), file.read_at + kBetweenReads);
    files_.schedule(index, std::min(file.due, at));
  }
}

void Discovery::poll_due(SteadyTime now) {
  while (const auto index = files_.take_due(now)) {
    const WatchedCall call(links_.watch);
    poll(*index, now);
  }
}

void Discovery::poll(FileIndex index, SteadyTime now) {
  FileState& file = files_.at(index);
  if ((file.is_vanished && !file.wants_rest()) || file.is_queued) return;
  if (root_.directory == nullptr) {
    unfinished_.erase(index);
    files_.schedule(index, now + intervals_.warm);
    return;
  }
  if (!root_.budget.allows(now)) {
    files_.schedule(index, now + kBudgetPause);
    return;
  }
  root_.budget.spend(1);
  if (file.is_parked || file.wants_rest()) {
    readers_.enqueue(index);
    return;
  }
  const auto facts = root_.directory->stat_file(file.relative_path);
  if (!facts) {
    // Gone, or out of reach: the next scan decides which.
    unfinished_.erase(index);
    files_.schedule(index, now + intervals_.warm);
    return;
  }
  // On a network file system sizes are cached, and only opening the file asks the server.
  const bool is_hot = links_.clock.steady() - file.memory.silent_since < kHotFor;
  if (root_.kind == FileSystemKind::remote && is_hot && follows_) {
    root_.budget.spend(2);
    readers_.enqueue(index);
    return;
  }
  examine(index, *facts);
}

void Discovery::take_outcome(const FileOutcome& outcome, SteadyTime now) {
  readers_.take_back(outcome.file);
  unfinished_.erase(outcome.file);
  judge_outcome(outcome, now);
  if (!outcome.is_configuration) rereads_.take_back(outcome, now);  // else its reading comes next
}

void Discovery::judge_outcome(const FileOutcome& outcome, SteadyTime now) {
  FileState& file = files_.at(outcome.file);
  const bool is_tried_again = file.wants_rest() && (outcome.kind == FileOutcome::Kind::postponed ||
                                                    outcome.kind == FileOutcome::Kind::failed);
  if (file.is_vanished && !is_tried_again) {
    take_vanished(outcome, now);
    return;
  }
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
      if (!outcome.error.empty()) reports_.cannot_read_database(outcome.error);
      // --once must end, even when the database does not recover.
      if (!follows_ && ++file.failures > kPostponedAtMost) {
        const std::string why =
            outcome.error.empty() ? "memory was short, or what had been read was removed meanwhile"
                                  : outcome.error;
        park(outcome.file, std::string(kNotReadYet) + why, now);
      } else {
        look_again(outcome.file, now + kPostponed);
      }
      return;
    case FileOutcome::Kind::vanished:
      // A scan that finds no such name marks it so; a rename may be going on.
      files_.schedule(outcome.file, now + intervals_.warm);
      files_.set_pending(file, 0);
      return;
    case FileOutcome::Kind::failed:
      // Until its compressed form can be read a log that went away counts as gone.
      // What settled was told whole, as far as is known.
      if (file.is_vanished && !file.memory.is_settled) reports_.vanished(file.relative_path);
      park(outcome.file, outcome.error, now, outcome.rest_max);
      return;
  }
}

// It went away while it was read, by which its run counts as there again; or what its compressed
// form has of it was read. Where that is taken for a log of its own, it is by what was known then,
// and that stays so.
void Discovery::take_vanished(const FileOutcome& outcome, SteadyTime now) {
  FileState& file = files_.at(outcome.file);
  const bool was_read =
      outcome.kind == FileOutcome::Kind::committed || outcome.kind == FileOutcome::Kind::unchanged;
  if (file.wants_rest() && was_read) {
    unpark(file);
    if (!outcome.flaw.empty()) reports_.reads_in_part(file.relative_path, outcome.flaw);
    files_.set_memory(file, outcome.memory);
    mark_missing(outcome.file);
    return;
  }
  const bool found_no_rest =
      file.wants_rest() && outcome.is_rest && outcome.kind == FileOutcome::Kind::vanished;
  if (found_no_rest && packed_form_of(root_, file) == PackedForm::unread) {
    // What names the form cannot be opened as a file: not asked for again at once.
    files_.schedule(outcome.file, now + intervals_.warm);
    return;
  }
  const bool has_lost_run = outcome.memory.run == 0 && file.memory.run != 0;  // removed meanwhile
  if (outcome.kind == FileOutcome::Kind::committed || has_lost_run) {
    LogMemory memory = outcome.memory;
    memory.is_settled = file.memory.is_settled;
    memory.job_has_ended = file.memory.job_has_ended;
    files_.set_memory(file, memory);
  }
  mark_missing(outcome.file);
}

void Discovery::tell_refusal(FileIndex index) {
  const FileState& file = files_.at(index);
  reports_.leaves_as_told(file.relative_path, refusal_words(file.refusal));
}

void Discovery::take_progress(const FileOutcome& outcome, SteadyTime now) {
  FileState& file = files_.at(outcome.file);
  file.failures = 0;
  file.shrink_polls = 0;
  unpark(file);
  if (!outcome.flaw.empty()) reports_.reads_in_part(file.relative_path, outcome.flaw);
  files_.set_memory(file, outcome.memory);
  const std::uint64_t size = outcome.size_bytes;
  const std::uint64_t offset = file.memory.offset;
  files_.set_pending(file, !outcome.reached_end && size > offset ? size - offset : 0);
  const bool was_postponed = outcome.is_configuration && file.is_changed_again;
  if (!outcome.reached_end || file.wants_configuration || was_postponed) {
    readers_.enqueue(outcome.file);
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

void Discovery::ask_for_verdict(storage::RunId run) {
  const auto index = files_.find(run);
  if (!index) return;  // of another root
  FileState& file = files_.at(*index);
  if (file.is_vanished || file.is_parked) return;
  file.wants_verdict = true;
  readers_.enqueue(*index);
}

void Discovery::schedule_next(FileIndex index, SteadyTime now) {
  if (!follows_) return;
  const bool is_local = root_.kind == FileSystemKind::local;
  files_.schedule(index, next_look(files_.at(index).memory, intervals_, is_local, index, now));
}

void Discovery::park(FileIndex index, const std::string& reason, SteadyTime now,
                     milliseconds rest_max) {
  FileState& file = files_.at(index);
  files_.set_parked(file, true);
  if (file.failures < UINT16_MAX) ++file.failures;
  files_.set_pending(file, 0);
  const auto rest =
      std::min(rest_max, park_interval(file.failures, options_.park_first, options_.park_longest));
  if (follows_) files_.schedule(index, now + rest);
  reports_.parked(file, reason, rest);
}

void Discovery::unpark(FileState& file) {
  if (files_.set_parked(file, false)) reports_.unparked(file.relative_path);
}

// Whose text is there in compressed form is not gone: what was not read of it before is read from
// there.
void Discovery::mark_missing(FileIndex index) {
  FileState& file = files_.at(index);
  const bool was_gone = file.is_vanished && !file.is_packed_away();
  files_.set_vanished(file, true);
  files_.schedule(index, SteadyTime::max());
  unfinished_.erase(index);
  files_.set_pending(file, 0);
  unpark(file);
  const LogMemory& log = file.memory;
  const bool has_run = log.run != 0 || log.is_removed;
  files_.set_packed_form(file, has_run ? packed_form_of(root_, file) : PackedForm::none);
  if (file.wants_rest()) {
    readers_.enqueue(index);
  } else if (file.is_packed_away()) {
    const bool was_here = file.directory != kNoDirectory;  // else it is no news
    if (was_here && log.run != 0) reports_.keeps_compressed(file.relative_path);
    if (was_gone) reports_.returned(file.relative_path);
  } else {
    if (has_run) reports_.vanished(file.relative_path);
    file.memory.is_removed = false;
  }
}

void Discovery::wait(SteadyTime now, bool has_more) {
  if (has_more) return;
  SteadyTime next = std::min(files_.next_due(), scanner_.next_work(now));
  if (follows_) next = std::min(next, content_checks_.next_due());
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
