// RootWorker: all threads that touch one root's file system, and the queues between them: one
// discovery thread and a few readers. Roots share the writer and nothing else, so that a mount
// that hangs holds up its own root only.
//
// Its threads own it together with whoever made it: one that hangs is left behind at the end, and
// wakes up, if ever, to objects that are still there and a stop that was asked for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/ingest/discovery.h"
#include "server/ingest/ingest_parts.h"
#include "server/ingest/log_worker.h"

namespace llmb::ingest {

// What the roots of one Pipeline share. Lives as long as the last thread of the last root.
struct SharedByRoots {
  SharedByRoots(std::shared_ptr<const IngestParts> parts, std::size_t writes_max)
      : all(std::move(parts)), writes(writes_max) {}

  const std::shared_ptr<const IngestParts> all;
  WriteQueue writes;
  std::mutex mutex;                          // for those who wait for the next
  std::condition_variable a_thread_ended{};  // of any root
};

class RootWorker : public std::enable_shared_from_this<RootWorker> {
 public:
  // Throws StorageError.
  RootWorker(std::shared_ptr<SharedByRoots> shared, WatchedRoot root, bool follows);
  RootWorker(const RootWorker&) = delete;
  RootWorker& operator=(const RootWorker&) = delete;

  // What the database already has, of any root; before start().
  void restore(const KnownLogs& known);

  void start();
  void request_stop();  // from any thread; returns at once
  // Their jobs may have ended. From any thread.
  void ask_for_verdicts(const std::vector<storage::RunId>& runs) {
    outcomes_->ask_for_verdicts(runs);
  }
  // After request_stop(): waits for the threads, and leaves behind those that are in a call for so
  // long that it will not come back soon.
  void end();

  // Discovery came to its end by itself (only without `follows`), or its root has been hanging for
  // so long that nobody should wait for it.
  bool is_done_or_given_up() const;
  const std::shared_ptr<RootActivity>& activity() const { return activity_; }

 private:
  struct Thread {
    std::thread thread;
    std::shared_ptr<CallWatch> watch = std::make_shared<CallWatch>();
    bool has_ended = false;
  };
  void launch(Thread& thread, std::function<void()> work);
  void read(LogWorker& worker);
  bool is_stuck(const Thread& thread) const;

  const std::shared_ptr<SharedByRoots> shared_;
  const IngestOptions options_;  // with this root's share of the limits
  std::atomic<bool> stop_ = false;
  BoundedQueue<ReadJob> jobs_;
  const std::shared_ptr<OutcomeMailbox> outcomes_ = std::make_shared<OutcomeMailbox>();
  std::shared_ptr<RootActivity> activity_;
  std::vector<std::unique_ptr<LogWorker>> workers_;
  std::unique_ptr<Discovery> discovery_;
  mutable std::mutex mutex_;  // guards has_ended
  std::condition_variable ended_;
  // The first is discovery's. Addresses stay: the threads hold them.
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace llmb::ingest
