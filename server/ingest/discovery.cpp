#include "server/ingest/discovery.h"

#include <algorithm>

#include "parser/foundation/instant.h"
#include "server/ingest/log_tail.h"

namespace llmb::ingest {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenReads{100};  // of one file, however often it is written
constexpr milliseconds kBetweenEvents{50};  // one wake-up serves all events of that time
constexpr milliseconds kBudgetPause{100};
constexpr std::chrono::minutes kHotFor{2};
constexpr int kShrinkPolls = 3;

std::int64_t microseconds_of(std::int64_t ns) {
  return ns / 1'000;
}

}  // namespace

Discovery::Discovery(std::vector<WatchedRoot> roots, const IngestOptions& options, Links links,
                     bool follows)
    : roots_(std::move(roots)),
      options_(options),
      links_(links),
      follows_(follows),
      intervals_{options.hot_interval, options.warm_interval, options.cold_interval},
      scanner_(roots_, files_, options, links.watch, follows, make_listener()) {}

Scanner::Listener Discovery::make_listener() {
  Scanner::Listener listener;
  listener.on_examined = [this](FileIndex file, const FileFacts& facts) { examine(file, facts); };
  listener.on_event = [this](FileIndex index) {
    FileState& file = files_.at(index);
    if (file.is_queued) {
      file.is_changed_again = true;
    } else if (!file.is_parked) {
      const SteadyTime at = std::max(links_.clock.steady(), file.read_at + kBetweenReads);
      files_.schedule(index, std::min(file.due, at));
    }
  };
  listener.on_missing = [this](FileIndex file) { mark_missing(file); };
  listener.on_configuration = [this](FileIndex index) {
    files_.at(index).wants_configuration = true;
    if (files_.at(index).run != 0) enqueue(index);
  };
  listener.on_scan_end = [this](const WatchedRoot& root) { note_scan(root); };
  listener.on_unreadable = [this](const WatchedRoot& root, const UnreadableDirectory& directory) {
    note_unreadable(root, directory);
  };
  return listener;
}

void Discovery::restore(const std::vector<storage::Reader::KnownFile>& known,
                        const std::vector<storage::ParkedFile>& parked) {
  const auto index_of = [&](storage::RootId id) {
    return std::find_if(roots_.begin(), roots_.end(),
                        [&](const WatchedRoot& root) { return root.id == id; }) -
           roots_.begin();
  };
  for (const auto& before : known) {
    const auto root = static_cast<std::size_t>(index_of(before.root_id));
    if (root == roots_.size()) continue;
    FileState& file = files_.at(files_.add(static_cast<RootIndex>(root), before.relative_path));
    file.run = before.run;
    file.generation = before.generation;
    file.inode = before.cursor.inode;
    file.offset = before.cursor.offset;
    file.size_seen = before.cursor.offset;
    if (const auto grown_at = parser::parse_instant(before.grown_at)) {
      file.silent_since = steady_time_of(links_.clock, *grown_at);
    }
    if (const auto tail = decode_tail_state(before.cursor.parser_state)) {
      file.modified_ns_seen = tail->modified_us * 1'000;
    }
    // Where it is not said why a window was chosen, one more look does.
    file.is_settled = before.status != parser::RunStatus::running && before.has_window_source;
    file.job_has_ended = before.status == parser::RunStatus::complete;
  }
  for (const auto& before : parked) {
    const auto root = static_cast<std::size_t>(index_of(before.root_id));
    if (root == roots_.size()) continue;
    // Tried again by the first scan; the notice goes when that succeeds.
    const auto index = files_.find(static_cast<RootIndex>(root), before.relative_path);
    if (!index) {
      links_.writes.push_at_once(UnparkedFile{before.root_id, before.relative_path});
      continue;
    }
    files_.at(*index).is_parked = true;
    ++parked_;
  }
}

void Discovery::run(const std::function<void()>& on_tick) {
  while (!links_.stop.load()) {
    SteadyTime now = links_.clock.steady();
    for (const FileOutcome& outcome : links_.outcomes.take_all()) take_outcome(outcome, now);
    const auto real_now = std::chrono::steady_clock::now();
    if (real_now - events_taken_at_ >= kBetweenEvents) {
      scanner_.take_events();
      events_taken_at_ = real_now;
    }
    const bool has_more = scanner_.advance(now);
    now = links_.clock.steady();
    poll_due(now);
    dispatch();
    publish();
    if (on_tick) on_tick();
    if (!follows_ && is_finished()) return;
    wait(now, has_more);
  }
}

bool Discovery::is_finished() const {
  return scanner_.every_root_was_scanned() && ready_.empty() && with_readers_ == 0 &&
         unfinished_.empty();
}

// `facts` are fresh: is there anything to read, or to check?
void Discovery::examine(FileIndex index, const FileFacts& facts) {
  FileState& file = files_.at(index);
  if (file.is_vanished) {
    file.is_vanished = false;
    --vanished_;
  }
  if (file.is_parked && file.due != SteadyTime::max()) return;
  const bool is_changed =
      file.size_seen != facts.size_bytes || file.inode != facts.inode ||
      microseconds_of(file.modified_ns_seen) != microseconds_of(facts.modified_ns);
  if (file.run == 0 || is_changed || file.is_parked || is_verdict_due(file)) {
    set_pending(file, facts.size_bytes > file.offset ? facts.size_bytes - file.offset : 0);
    enqueue(index);
    return;
  }
  file.shrink_polls = 0;
  unfinished_.erase(index);
  if (file.due == SteadyTime::max() && !file.is_queued) {
    schedule_next(index, links_.clock.steady());
  }
}

Milliseconds Discovery::next_verdict(const FileState& file) {
  const Milliseconds over = quiet_limit(file.step_time_s_mean);
  return file.silence_is_judged ? over : std::min(over, hung_limit(file.step_time_s_typical));
}

bool Discovery::is_verdict_due(const FileState& file) const {
  return !file.is_settled && links_.clock.steady() - file.silent_since >= next_verdict(file);
}

void Discovery::poll_due(SteadyTime now) {
  while (const auto index = files_.take_due(now)) {
    const WatchedCall call(links_.watch);
    poll(*index, now);
  }
}

void Discovery::poll(FileIndex index, SteadyTime now) {
  FileState& file = files_.at(index);
  WatchedRoot& root = roots_[file.root];
  if (file.is_vanished || file.is_queued) return;
  if (root.directory == nullptr) {
    unfinished_.erase(index);
    files_.schedule(index, now + intervals_.warm);
    return;
  }
  if (!root.budget.allows(now)) {
    files_.schedule(index, now + kBudgetPause);
    return;
  }
  root.budget.spend(1);
  if (file.is_parked) {
    enqueue(index);
    return;
  }
  const auto facts = root.directory->stat_file(file.relative_path);
  if (!facts) {
    // Gone, or out of reach: the next scan decides which.
    unfinished_.erase(index);
    files_.schedule(index, now + intervals_.warm);
    return;
  }
  // On a network file system sizes are cached, and only opening the file asks the server.
  const bool is_hot = links_.clock.steady() - file.silent_since < kHotFor;
  if (root.kind == FileSystemKind::remote && is_hot && follows_) {
    root.budget.spend(2);
    enqueue(index);
    return;
  }
  examine(index, *facts);
}

void Discovery::enqueue(FileIndex index) {
  FileState& file = files_.at(index);
  if (file.is_queued) {
    file.is_changed_again = true;
    return;
  }
  file.is_queued = true;
  ++queued_;
  files_.schedule(index, SteadyTime::max());
  ready_.push_back(index);
}

void Discovery::dispatch() {
  while (!ready_.empty() && with_readers_ < options_.open_files_max) {
    const FileIndex index = ready_.front();
    ready_.pop_front();
    FileState& file = files_.at(index);
    if (file.is_vanished || roots_[file.root].directory == nullptr) {
      file.is_queued = false;
      --queued_;
      set_pending(file, 0);
      if (!file.is_vanished) files_.schedule(index, links_.clock.steady() + intervals_.warm);
      continue;
    }
    file.read_at = links_.clock.steady();
    if (!links_.jobs.push_at_once(make_job(index))) return;
    ++with_readers_;
  }
}

ReadJob Discovery::make_job(FileIndex index) {
  FileState& file = files_.at(index);
  const WatchedRoot& root = roots_[file.root];
  ReadJob job;
  job.file = index;
  job.root = root.directory;
  job.root_id = root.id;
  job.relative_path = file.relative_path;
  job.layout_path = root.path.substr(1) + '/' + file.relative_path;
  job.run = file.run;
  job.generation = file.generation;
  job.size_seen = file.size_seen;
  job.silent_since = file.silent_since;
  job.was_read_to_end = file.was_read_to_end;
  job.silence_is_judged = file.silence_is_judged;
  job.window_is_judged = file.window_is_judged;
  job.shrink_is_believed = file.shrink_polls >= kShrinkPolls;
  if (file.run != 0 && file.wants_configuration) job.kind = ReadJob::Kind::configure;
  file.wants_configuration = false;
  file.is_changed_again = job.kind == ReadJob::Kind::configure;  // read it next
  if (root.configs.size() != 0) {
    const auto job_id = parser::parse_run_path(job.layout_path).job_id;
    job.config_path = root.configs.config_for(file.relative_path, job_id);
  }
  return job;
}

}  // namespace llmb::ingest
