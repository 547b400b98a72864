// Committer: the writer thread. Takes what readers and discovery want to have in the database,
// commits many files in one transaction, and reports. When the disk is full it holds what it has
// and tries again until there is room; the queue fills up, and so the readers wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "server/ingest/status_board.h"
#include "server/ingest/write_queue.h"
#include "storage/database.h"
#include "storage/run_change.h"

namespace llmb::ingest {

class Committer {
 public:
  // All references outlive the Committer. `lane`: of the status. `judge_vanished`: called where
  // logs went away. `halt_is_fatal`: stop for good where it would wait. It always does where
  // another process has taken over what it writes, or a tree inside of that.
  Committer(storage::Writer& writer, WriteQueue& queue, StatusBoard& status, std::size_t lane,
            std::function<void(const storage::RunChange&)> on_change,
            std::function<void(storage::Writer&)> judge_vanished, bool halt_is_fatal);

  // Until the queue is closed and empty, or stop() while it is halted.
  void run();
  void stop();
  // Why it gave up; empty when it did not. Read after run() has returned.
  const std::string& fatal_error() const { return fatal_error_; }

 private:
  void check_file();
  void check_neighbours();
  void write(std::vector<WriteItem> items);
  void write_note(const WriteItem& item);
  void judge_vanished();
  // What the writer has changed since the last call.
  void tell_changes();
  void commit(std::vector<WorkResult> results);
  void commit_one_by_one(std::vector<WorkResult> results);
  void write_configuration(WorkResult result);
  void report_committed(WorkResult& result, storage::RunId run);
  void report_failed(WorkResult& result, const char* error);
  template <typename Operation>
  bool until_it_succeeds(const Operation& operation);
  bool wait_before_retry(const char* reason);

  storage::Writer& writer_;
  WriteQueue& queue_;
  StatusBoard& status_;
  std::size_t lane_;
  std::function<void(const storage::RunChange&)> on_change_;
  std::function<void(storage::Writer&)> judge_vanished_;
  bool halt_is_fatal_;
  std::chrono::steady_clock::time_point neighbours_due_{};
  std::string fatal_error_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopping_ = false;
};

}  // namespace llmb::ingest
