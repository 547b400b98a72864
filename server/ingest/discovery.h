// Discovery: the thread that decides. It scans the roots, polls each log as often as its age asks
// for, gives the readers what changed, and keeps the books on what came back. Holds all state of
// files; other threads reach it through the mailbox only. Roots of one Discovery wait for one
// another's file systems, so RootWorker gives each a Discovery of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "server/ingest/bounded_queue.h"
#include "server/ingest/committer.h"
#include "server/ingest/file_table.h"
#include "server/ingest/outcome_mailbox.h"
#include "server/ingest/poll_schedule.h"
#include "server/ingest/scanner.h"
#include "server/ingest/status_board.h"

namespace llmb::ingest {

class Discovery {
 public:
  struct Links {  // all outlive the Discovery
    BoundedQueue<ReadJob>& jobs;
    WriteQueue& writes;
    OutcomeMailbox& outcomes;
    RootActivity& activity;
    const std::atomic<bool>& stop;
    const Clock& clock;
    CallWatch& watch;
  };

  Discovery(std::vector<WatchedRoot> roots, const IngestOptions& options, Links links,
            bool follows);

  // What the database already has, before run(): it is not read again.
  void restore(const std::vector<storage::Reader::KnownFile>& known,
               const std::vector<storage::ParkedFile>& parked);

  // Until `stop`; without `follows`, until all roots were scanned once and read to their end.
  // `on_tick` is called after each round.
  void run(const std::function<void()>& on_tick = {});

 private:
  Scanner::Listener make_listener();
  void examine(FileIndex index, const FileFacts& facts);
  void poll_due(SteadyTime now);
  void poll(FileIndex index, SteadyTime now);
  void enqueue(FileIndex index);
  void dispatch();
  ReadJob make_job(FileIndex index);
  void take_outcome(const FileOutcome& outcome, SteadyTime now);
  void take_progress(const FileOutcome& outcome, SteadyTime now);
  void park(FileIndex index, const std::string& reason, SteadyTime now);
  void look_again(FileIndex index, SteadyTime at);
  void schedule_next(FileIndex index, SteadyTime now);
  void mark_missing(FileIndex index);
  void note_scan(const WatchedRoot& root);
  void note_unreadable(const WatchedRoot& root, const UnreadableDirectory& directory);
  bool may_log_again(const std::string& key, SteadyTime now);
  // How long it must have been silent for its next verdict: whether it hangs, then that it is over.
  static Milliseconds next_verdict(const FileState& file);
  bool is_verdict_due(const FileState& file) const;
  bool is_finished() const;
  void publish();
  void wait(SteadyTime now, bool has_more);
  void set_pending(FileState& file, std::uint64_t bytes);

  std::vector<WatchedRoot> roots_;
  const IngestOptions& options_;
  Links links_;
  bool follows_;
  PollIntervals intervals_;
  FileTable files_;
  Scanner scanner_;
  std::deque<FileIndex> ready_;
  int with_readers_ = 0;
  std::unordered_set<FileIndex> unfinished_;  // asked to be looked at again soon
  std::unordered_map<std::string, SteadyTime> logged_at_;
  // By root: what was recorded last of its scans, and when.
  std::unordered_map<storage::RootId, std::pair<std::string, SteadyTime>> scan_recorded_;
  std::int64_t queued_ = 0;
  std::int64_t parked_ = 0;
  std::int64_t vanished_ = 0;
  std::uint64_t pending_bytes_ = 0;
  SteadyTime events_taken_at_{};  // on the real clock
};

}  // namespace llmb::ingest
