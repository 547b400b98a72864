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
#include "server/ingest/ingest_parts.h"
#include "server/ingest/planned_root.h"
#include "server/ingest/root_worker.h"

namespace llmb::ingest {

class Pipeline {
 public:
  // `writer`, which outlives the Pipeline, writes the runs of `roots`. `lane`: of the status.
  // Throws StorageError.
  Pipeline(storage::Writer& writer, const std::shared_ptr<const IngestParts>& parts,
           const std::vector<PlannedRoot>& roots, std::size_t lane, bool follows);
  ~Pipeline();  // stops
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();
  // All roots are read to their end, or hang, or it was told to stop, or gave up.
  bool is_over() const;
  // Until it is over, but not for long.
  void wait_a_tick();
  void request_stop();
  // It was told to stop, or nothing can be written any more; then fatal_error() says why.
  bool is_stopping() const { return stop_.load(); }
  void ask_for_verdicts(const std::vector<storage::RunId>& runs);
  // See Ingest::write().
  bool write(std::function<void(storage::Writer&)> task);
  // Within seconds: what was read is committed, unless the writer is halted. Threads that hang in
  // a root's file system are left behind; see abandoned_call.h.
  void stop();
  // To be read after stop().
  const std::string& fatal_error() const { return committer_.fatal_error(); }

 private:
  // Of runs whose logs went away: those of its roots.
  void judge_vanished(storage::Writer& writer);

  const std::shared_ptr<SharedByRoots> shared_;
  std::vector<storage::RootId> root_ids_;
  std::atomic<bool> stop_ = false;
  Committer committer_;
  std::vector<std::shared_ptr<RootWorker>> roots_;
  std::thread writer_thread_;
};

}  // namespace llmb::ingest
