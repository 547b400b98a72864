// Pipeline: the threads of ingest and the queues between them, for one run of it.
//
//   discovery --ReadJob--> readers --WriteItem--> writer
//       ^------- FileOutcome ---------'--------------'
//
// Discovery and readers are each root's own (RootWorker); the writer is one. A file is with at
// most one of them at a time: discovery gives it away, and takes it back with its outcome. So the
// database always holds what the next reading goes on from.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/ingest/committer.h"
#include "server/ingest/ingest_options.h"
#include "server/ingest/root_worker.h"

namespace llmb::ingest {

class Pipeline {
 public:
  // `writer` outlives the Pipeline. Throws StorageError. Takes some seconds where a root hangs.
  Pipeline(storage::Writer& writer, const IngestOptions& options,
           std::shared_ptr<const Clock> clock, std::shared_ptr<StatusBoard> status,
           std::function<void(const storage::RunChange&)> on_change, bool follows);
  ~Pipeline();  // stops
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();
  // Until all roots are read to their end, or hang; calls `on_tick` now and then.
  void run(const std::function<void()>& on_tick);
  void request_stop();
  void ask_for_verdicts(const std::vector<storage::RunId>& runs);
  // See Ingest::write().
  bool write(std::function<void(storage::Writer&)> task);
  // Within seconds: what was read is committed, unless the writer is halted. Threads that hang in
  // a root's file system are left behind; see abandoned_call.h.
  void stop();
  const std::string& fatal_error() const { return committer_.fatal_error(); }

 private:
  bool is_over() const;

  const std::shared_ptr<SharedByRoots> shared_;
  std::atomic<bool> stop_ = false;
  Committer committer_;
  std::vector<std::shared_ptr<RootWorker>> roots_;
  std::thread writer_thread_;
};

}  // namespace llmb::ingest
