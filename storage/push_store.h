// PushStore: an agent's own database as the spool of what it pushes. Says which runs the server
// lacks, tells each, and keeps what the server acknowledged.
//
// It has a connection of its own and writes only what it keeps about the server, in short
// transactions beside the Writer, which marks the steps that change. Not thread-safe: one thread
// owns it. Everything throws StorageError.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/push_records.h"

namespace llmb::storage {

class PushStore {
 public:
  // The database is there, and its schema the current one: a Writer has opened it.
  explicit PushStore(const std::string& database_path);
  ~PushStore();
  PushStore(const PushStore&) = delete;
  PushStore& operator=(const PushStore&) = delete;

  std::string store_id();
  // Rises with every change of a run.
  std::int64_t data_revision();

  // Runs of watched trees of which the server lacks something, by id, those after `after`: of one
  // log the older generation comes first.
  std::vector<RunId> pending(RunId after, std::int64_t limit);
  std::int64_t pending_count();

  // What is to be sent of a run, with at most `steps_max` steps. Nothing: the run is gone.
  std::optional<LogTelling> tell(RunId run, std::int64_t steps_max);
  // The same in two halves, so that one transaction begins many: from begin_telling() on the Writer
  // notes what changes, whatever is read of the runs afterwards. Between read_telling() and its
  // answer a run must not be begun again: what changed meanwhile would be forgotten.
  void begin_telling(std::span<const RunId> runs);
  std::optional<LogTelling> read_telling(RunId run, std::int64_t steps_max);
  // The server's answers to tellings, in one transaction: conflict and deferred lose nothing.
  struct Answer {
    RunId run = 0;
    std::int64_t told_revision = 0;
    StepKey told_end = kBehindAllSteps;
    PushResult result;
  };
  void keep_answers(std::span<const Answer> answers);

  // Of which runs, known to the server, it may lack text, by id, those after `after`; how many.
  std::vector<RunId> text_pending(RunId after, std::int64_t limit);
  // What is known of a run's text. Nothing: the run is gone.
  struct LogText {
    std::string root_path;
    std::string relative_path;
    std::int64_t generation = 0;
    LogCursor cursor;
    // Also of a last line that nobody ended: the cursor stands before it, and a job's last words
    // may be there.
    std::uint64_t bytes_read = 0;
    std::uint64_t server_bytes = 0;  // where the text that the server holds ends
  };
  std::optional<LogText> log_text(RunId run);
  // The server holds the text up to `end`; nothing: there is no more to send until the log changes.
  void keep_text(RunId run, std::optional<std::uint64_t> end);

  // After the server was started anew: all that it holds is compared with what it acknowledged.
  // What differs, and what it does not hold, is pending as a whole from then on.
  void begin_comparison();
  void compare(std::span<const HeldLog> held);
  void end_comparison();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// How PushStore finds the runs of which the server lacks something, and the new ones. This is for
// whoever wants to know how SQLite answers.
std::vector<std::string> pending_sql();

}  // namespace llmb::storage
