// RunRecord and its parts <-> rows of run, run_settings, run_segment, run_event, log_cursor.
// All functions run inside a transaction of the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// What must be known of a stored run before a batch changes it.
struct StoredRun {
  RunId id = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t bytes_read = 0;
  std::int64_t step_count = 0;
};
std::optional<StoredRun> find_run(Connection& connection, const IngestBatch& batch);

// When a log was seen first, grew last, and was found gone.
struct RunTimes {
  std::string first_seen_at;
  std::string grown_at;
  std::optional<std::string> vanished_at;
};
// The older generations of the batch's log that were its newest ones until now.
std::vector<RunId> supersede_older(Connection& connection, const IngestBatch& batch);
// The ids of new runs. Of transactions that write there is one at a time, so that the first of one
// is looked up, and the others follow it.
class RunIds {
 public:
  explicit RunIds(Connection& connection) : connection_(connection) {}
  RunId take();
  // To be called when a transaction begins.
  void reset() { next_.reset(); }

 private:
  Connection& connection_;
  std::optional<RunId> next_;
};
// A new run by such an id, born superseded where its log has a newer generation, with all that its
// row holds: the columns that its configuration chooses, and `batch.samples.size()` as its count of
// steps. `is_only_generation`: the log is known to have no other one.
void insert_run(Connection& connection, RunId run, const IngestBatch& batch, const RunTimes& times,
                bool is_only_generation);
// Everything of the run's row that a batch says. `grown`: the batch brought new bytes.
void update_run(Connection& connection, RunId run, const IngestBatch& batch, bool grown);
void set_step_count(Connection& connection, RunId run, std::int64_t step_count);

// Rewrites the values. Writes nothing when nothing changed.
void write_configuration(Connection& connection, RunId run,
                         const parser::RunConfiguration& configuration);
// Workload, model_size, dtype, gpu_type and gpu_count, in that order.
void bind_identity(Statement& statement, const parser::RunIdentity& identity);
// The same, by the catalog that `listed` came of where it came of one, then release and cluster.
void bind_chosen(Statement& statement, const parser::RunConfiguration& configuration,
                 const ListedResult& listed);
// Writes nothing when nothing changed.
void write_chosen(Connection& connection, RunId run, const parser::RunConfiguration& configuration,
                  const ListedResult& listed);
// With the run's identity.
void write_listed(Connection& connection, RunId run, const ListedResult& listed);
// Its summary and what lists show; false, and nothing, where its log is there (again),
// and is still the one that it was read from.
bool write_verdict_of_vanished(Connection& connection, const RunRecord& run);
// Marks a run that a profiler slowed, as far as its stored profiles and its configuration tell.
void mark_profiled(Connection& connection, RunId run,
                   const parser::RunConfiguration& configuration);
// Configuration, profiles and what the facts have in tables of their own, each where it changed.
// `is_new`: nothing of it is stored yet, and the row has what its configuration chooses.
void write_parts(Connection& connection, RunId run, const IngestBatch& batch, bool is_new);
void write_cursor(Connection& connection, RunId run, const LogCursor& cursor);

// "SELECT … FROM run" for read_run_row(); the caller adds WHERE and the rest.
std::string select_run_sql();
RunRecord read_run_row(Statement& row);
// Of the row's next column; no_data for a name of another version.
parser::RunStatus read_status(Statement& row);

parser::RunConfiguration read_configuration(Connection& connection, RunId run);
std::vector<parser::SegmentFacts> read_segments(Connection& connection, RunId run);
// The configuration and the segments of each, which a list shows: two questions in all, however
// many runs there are. No two are of one id.
void read_listed_parts(Connection& connection, std::span<RunRecord> runs);
// As a list has them, by id; those that are not there are left out.
std::vector<RunRecord> read_listed_runs(Connection& connection, std::span<const RunId> ids);
std::vector<parser::LogEvent> read_events(Connection& connection, RunId run);
// All that a run has in tables of its own, but for its steps.
void read_run_parts(Connection& connection, RunRecord& run);

// The columns of log_cursor but its key, and their reading at the row's next column.
inline constexpr const char* kCursorColumns =
    "device, inode, head_hash, head_length, tail_hash, tail_length, byte_offset, parser_state";
LogCursor read_cursor_columns(Statement& row);
std::optional<LogCursor> read_cursor(Connection& connection, RunId run);

}  // namespace llmb::storage
