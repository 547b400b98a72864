// Ingest: keeps the database equal to the logs under the roots. One discovery thread and a few
// readers for each root, a writer for each lane; stop() ends them within seconds, and leaves behind
// those that hang in a root's file system (see abandoned_call.h). Knows no HTTP.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/ingest/ingest_options.h"
#include "server/ingest/ingest_status.h"
#include "storage/run_change.h"

namespace llmb::ingest {

class Ingest {
 public:
  // Opens the database (throws StorageError). `on_change` is called from the writer's thread after
  // each commit, once for each run that it changed, whoever asked for that.
  Ingest(IngestOptions options, std::function<void(const storage::RunChange&)> on_change);
  ~Ingest();  // stops
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;

  void start();  // follows the roots until stop()
  void stop();
  void request_stop();  // from any thread; returns at once
  // The jobs of these runs may have ended: they are judged again at once. From any thread.
  void ask_for_verdicts(const std::vector<storage::RunId>& runs);
  // Has `task` called by the thread that writes, after what waits there already; it must throw
  // nothing. False: there is no room for it now, or nothing is written (not started, stopped). A
  // task that was taken is dropped uncalled where ingest stops before its turn. From any thread.
  bool write(std::function<void(storage::Writer&)> task);
  // Reads all there is, once, on the calling thread's watch; `on_progress` is called now and
  // then. Ends early after request_stop(). Throws std::runtime_error where nothing can be written.
  void run_once(const std::function<void(const IngestStatus&)>& on_progress);

  IngestStatus status() const;  // thread-safe

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::ingest
