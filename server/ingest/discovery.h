// Discovery: the thread that decides about one root. It scans the root, polls each log as often as
// its age asks for, gives the readers what changed, and judges what came back. Holds all state of
// the root's files; other threads reach it through the mailbox only.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <unordered_set>
#include <vector>

#include "server/ingest/content_checks.h"
#include "server/ingest/outcome_mailbox.h"
#include "server/ingest/poll_schedule.h"
#include "server/ingest/read_dispatch.h"
#include "server/ingest/rereads.h"
#include "server/ingest/root_reports.h"
#include "server/ingest/scanner.h"

namespace llmb::ingest {

// What a database has, when ingest begins.
struct KnownLogs {
  std::vector<storage::Reader::KnownFile> files;
  std::vector<storage::RemovedLog> removed;
  std::vector<storage::ParkedFile> parked;
};

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

  // No allowance: the root is not followed, but read once.
  Discovery(WatchedRoot root, const IngestOptions& options, Links links,
            std::shared_ptr<WatchAllowance> allowance);

  // What the database already has, before run(): it is not read again.
  void restore(const KnownLogs& known);

  // Until `stop`; where it does not follow, until the root was scanned once and read to its end.
  void run();

 private:
  bool run_once();
  Scanner::Listener make_listener();
  void examine(FileIndex index, const FileFacts& facts);
  void see_event(FileIndex index);
  void poll_due(SteadyTime now);
  void poll(FileIndex index, SteadyTime now);
  void begin_rereads(SteadyTime now);
  void tell_refusal(FileIndex index);
  void take_outcome(const FileOutcome& outcome, SteadyTime now);
  void judge_outcome(const FileOutcome& outcome, SteadyTime now);
  void take_vanished(const FileOutcome& outcome, SteadyTime now);
  void take_progress(const FileOutcome& outcome, SteadyTime now);
  void park(FileIndex index, const std::string& reason, SteadyTime now,
            std::chrono::milliseconds rest_max = std::chrono::milliseconds::max());
  void unpark(FileState& file);
  void look_again(FileIndex index, SteadyTime at);
  void ask_for_verdict(storage::RunId run);
  void schedule_next(FileIndex index, SteadyTime now);
  void mark_missing(FileIndex index);
  bool is_finished() const;
  void wait(SteadyTime now, bool has_more);

  WatchedRoot root_;
  const IngestOptions& options_;
  Links links_;
  const bool follows_;
  PollIntervals intervals_;
  FileTable files_;
  RootReports reports_;
  ReadDispatch readers_;
  Rereads rereads_;
  Scanner scanner_;
  ContentChecks content_checks_;
  std::unordered_set<FileIndex> unfinished_;  // asked to be looked at again soon
  SteadyTime events_taken_at_{};              // on the real clock
};

}  // namespace llmb::ingest
