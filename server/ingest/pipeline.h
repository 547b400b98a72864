// Pipeline: the threads of ingest and the queues between them, for one run of it.
//
//   discovery --ReadJob--> readers --WriteItem--> writer
//       ^------- FileOutcome ---------'--------------'
//
// A file is with at most one of them at a time: discovery gives it away, and takes it back with
// its outcome. So the database always holds what the next reading goes on from.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/ingest/discovery.h"

namespace llmb::ingest {

class Pipeline {
 public:
  // `writer`, `status` and `options` outlive the Pipeline. Throws StorageError.
  Pipeline(storage::Writer& writer, const IngestOptions& options, const Clock& clock,
           StatusBoard& status, std::function<void(const RunChange&)> on_change, bool follows);
  ~Pipeline();  // stops
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();                                    // discovery on a thread of its own
  void run(const std::function<void()>& on_tick);  // discovery on this thread, to its end
  void request_stop();
  void stop();  // within seconds: what was read is committed, unless the writer is halted
  const std::string& fatal_error() const { return committer_.fatal_error(); }

 private:
  void start_workers();
  void stop_workers();
  void read(LogWorker& worker);

  std::atomic<bool> stop_ = false;
  BoundedQueue<ReadJob> jobs_;
  WriteQueue writes_;
  OutcomeMailbox outcomes_;
  Committer committer_;
  std::vector<std::unique_ptr<LogWorker>> workers_;
  std::unique_ptr<Discovery> discovery_;
  std::vector<std::thread> readers_;
  std::thread writer_thread_;
  std::thread discovery_thread_;
};

}  // namespace llmb::ingest
