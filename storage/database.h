// The database: opens it, brings its schema up to date, and hands out writers and any number
// of readers. Its place is the path of an SQLite file, or the URL of a PostgreSQL database; nothing
// outside storage knows which.
//
// A file is locked against a second writer process for as long as a Writer lives. It must be on a
// local disk (SQLite's write-ahead log is unsafe on network file systems) unless told otherwise.
// Into a PostgreSQL database several processes write, one transaction at a time; the runs of a
// watched tree are written by the one that has claimed it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parser/statistics/tree_clusters.h"
#include "storage/failure_records.h"
#include "storage/job_records.h"
#include "storage/push_records.h"
#include "storage/records.h"
#include "storage/retention_records.h"
#include "storage/root_claim.h"
#include "storage/run_change.h"
#include "storage/run_query.h"
#include "storage/storage_error.h"

namespace llmb::storage {

struct OpenOptions {
  std::string path;  // or a URL; a file is created when missing, its folder must exist
  bool allow_network_file_system = false;
  // Called while the steps of an earlier version are packed (old_steps.h), with how many runs'.
  std::function<void(std::int64_t)> on_old_steps = nullptr;
};

// A connection that writes; of a file the only one. Not thread-safe: one thread owns it.
class Writer {
 public:
  // Locks, opens, migrates (after a copy of existing data). Throws StorageError.
  explicit Writer(const OpenOptions& options);
  // Of the runs of one watched tree, in a database that admits_several_writers(). Writes nothing
  // before claim_root().
  Writer(const OpenOptions& options, const RootClaim& root);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Taken: this one writes that tree's runs, but for those of trees_left_out(), until its session
  // ends and another is quicker, or the database went back to a state that lacks what it wrote.
  // Then changes throw StorageError taken_over until it is claimed anew: what is known of the tree
  // by then is not what is stored. Else root_holder() says who is in the way. `inner_rest`: for how
  // long a tree inside it that no process has claimed any more is left out all the same, for
  // whoever had it may just be started anew.
  ClaimOutcome claim_root(std::chrono::milliseconds inner_rest = {});
  TreeHolder root_holder();
  // Paths of the trees inside it that other processes watch, or this one by another Writer.
  std::vector<std::string> trees_left_out();
  // Throws StorageError taken_over where trees_left_out() is not up to date any more.
  void require_same_neighbours();

  // What was done to single runs since the last call, in that order, where all of it was committed.
  // Not what changed runs at large: a removal, a cluster's new name.
  std::vector<RunChange> take_changes();

  // Throws StorageError lost where the file was deleted, renamed, replaced or truncated since it
  // was opened. Every change asks that first; this is for times without one.
  void check_file();
  // To be called where nothing is to be written just now: copies a long write-ahead log into the
  // file, which a later commit would take the time for otherwise.
  void use_rest();

  RootId upsert_root(const std::string& path, const std::string& cluster);
  // Runs that other roots read below this one, or that are left of roots inside it which nobody
  // watches any more, become this root's; `left_out`: paths of those that somebody watches. Returns
  // how many.
  std::int64_t gather_runs(RootId root, const std::vector<std::string>& left_out);
  // Forgets a watched tree of which no run is stored, and that nobody else writes, with the marks
  // of what was removed of it; false where there is no such one, and nothing changes.
  bool forget_root(const std::string& path);
  void record_scan(RootId root, const std::string& scanned_at, double scan_s,
                   std::int64_t files_seen, const std::string& error);

  // All batches in one transaction: samples, statistics and cursor, or nothing. Returns the runs'
  // ids in the order of the batches. A higher generation supersedes the lower ones, of which the
  // newest few are kept (generation_rows.h). 0 for a batch that continues a run which was removed
  // meanwhile, and of which nothing is stored.
  std::vector<RunId> commit(std::span<const IngestBatch> batches);

  // What an agent on another cluster tells of its logs, in one transaction. Each is stored as
  // ingest would have stored it, below a root of the sender's cluster, or left as its result says.
  std::vector<PushResult> commit_pushed(const PushSender& sender, std::vector<LogTelling> logs);
  // Text of logs that were told, in one transaction. Of each where the text that is held of its log
  // ends now; nothing: no run is held by the sender's word under that name.
  std::vector<std::optional<std::uint64_t>> commit_log_blocks(
      const PushSender& sender, std::span<const LogBlockTelling> blocks);
  void record_push_agent(const PushAgentRecord& agent);
  // It has said its last word: its runs stay, and any other store may take them over at once.
  void forget_push_agent(const std::string& store_id);
  // All that was pushed as cluster `from` belongs to `to` from now on. Throws StorageError
  // constraint where both have runs of a tree of one path: Reader::trees_of_both().
  void rename_pushed_cluster(const std::string& from, const std::string& to);

  // Removes logs, of which `newest` are runs that a plan named, in one transaction; those that do
  // not fit the policy any more stay.
  RemovalCount remove_logs(const RetentionPolicy& policy, std::span<const RunId> newest,
                           parser::Instant now);
  // Lets logs in again that were removed, by the ids that a plan named, in one transaction: nothing
  // says any more that they are not to be read, or taken from an agent. Who has claimed their tree
  // begins it anew within a second, and agents compare. Returns of how many that was so until now.
  std::int64_t let_in_again(std::span<const RunId> removed);

  // A llmb-config appeared after the log. Without `listed`, the figures that lists show stay as
  // they were, and what it trained, and on what, is as this configuration says.
  void update_configuration(RunId run, const parser::RunConfiguration& configuration,
                            const std::optional<ListedResult>& listed = {});
  // Of runs that another catalog had judged. One that has changed since it was read, or is gone,
  // stays as it is: whoever changed it has judged it.
  struct JudgedRun {
    RunId run = 0;
    std::int64_t revision = 0;  // that was read
    ListedResult listed;
  };
  void update_listed(std::span<const JudgedRun> runs);
  // The file is gone; its data stays. Of a log that was removed nothing is kept any more.
  void mark_vanished(RootId root, const std::string& relative_path, const std::string& at);

  // What is made of a run's log anew, without a byte of it: its summary and what lists show, while
  // the log is gone.
  void update_verdict(const RunRecord& run);

  // It is there again, as it was.
  void mark_returned(RootId root, const std::string& relative_path);

  void park(const ParkedFile& file);
  void unpark(RootId root, const std::string& relative_path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A read-only connection. Each call is one short read transaction. Not thread-safe: one each.
class Reader {
 public:
  explicit Reader(const std::string& place);  // throws StorageError
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Whether it still sees what others commit: not where it found the file closed, as one that it
  // may not write, and a writer has come since. Another Reader sees that then.
  bool is_current();
  // Rises with every commit that touches a run: what an ETag of any list of runs is made of. Scans,
  // roots and parked files leave it alone, so that an idle second invalidates nothing. Reads one
  // row.
  std::int64_t data_revision();

  std::vector<RootRecord> roots();
  // Paths of trees that agents push as cluster `from`, and of which there are runs of `to`.
  std::vector<std::string> trees_of_both(const std::string& from, const std::string& to);
  // Of which cluster the runs of a root are that name none. A filter by cluster takes them, too.
  parser::TreeClusters tree_clusters();
  // Throws std::invalid_argument for a keyset that is_valid_keyset() refuses.
  RunPage runs(const RunQuery& query);
  std::int64_t run_count(const RunFilter& filter);
  RunChoices run_choices();
  // What ended the runs that match.
  FailureCounts failure_counts(const RunFilter& filter);
  std::optional<RunRecord> run(RunId id);  // with all its parts
  // Of those that match, the `limit` that were launched last, as RunSortKey::launched_at has it:
  // by id.
  std::vector<RunVersion> newest_run_versions(const RunFilter& filter, std::int64_t limit);
  // As a list has them, by id; those that are not there are left out.
  std::vector<RunRecord> listed_runs(std::span<const RunId> ids);
  // Of those of `ids` that have one, in no order: a superseded run has none, and is none's. Costs
  // some reads of rows for each.
  std::vector<LikelyCopy> likely_copies(std::span<const RunId> ids);
  // Those that look as `id` does, itself with them, the one first that counts for all of them.
  std::vector<RunId> runs_that_look_like(RunId id);
  // Runs whose ListedResult another catalog gave, or none: the first `limit` by id of those after
  // `after`, as a list has them.
  std::vector<RunRecord> runs_not_listed_by(std::uint64_t catalog_hash, RunId after,
                                            std::int64_t limit);
  std::optional<std::int64_t> run_revision(RunId id);
  // How many steps of a run lie in `window` at most; 0 where there is no such run. Reads one row.
  std::int64_t steps_at_most(RunId id, const std::optional<parser::Window>& window);
  // The job that was submitted here and that this run came from: by its number, and its launch, or
  // in a tree that has no folder for a launch its experiment. Of several the newest of those that
  // write where the log lies; nothing where jobs of two clusters fit equally well.
  std::optional<RunJob> job_of(RunId id);
  // Of a superseded run the one that stands in its place: the newest generation of its log.
  std::optional<RunId> superseding_run(RunId id);
  // As job_of(), of a log below `root`, whose path says what `log` holds.
  std::optional<JobProgress> last_state_of_job(RootId root, const std::string& relative_path,
                                               const parser::RunPath& log);
  std::optional<RunRecord> run_at(RootId root, const std::string& relative_path);  // newest
  std::optional<LogCursor> cursor(RunId id);
  // A root's runs that are told to be running, and whose logs are gone or were written anew.
  std::vector<RunId> vanished_while_running(RootId root);
  // What is known of the bytes of its log at both ends, a pushed one's by its agent's word.
  LogEnds log_ends(RunId id);

  // Ordered by (segment, iteration). With a window: only what lies in it, in every segment.
  std::vector<parser::StepSample> steps(RunId id, std::optional<parser::Window> window = {});
  // The same, one at a time, for runs of any length; of one segment where one is given. What
  // `visit` throws ends the reading and comes out here; it must not use this Reader.
  void visit_steps(RunId id, std::optional<parser::Window> window,
                   std::optional<std::int32_t> segment,
                   const std::function<void(parser::StepSample&&)>& visit);

  // Of the last `count` steps, those that have one: in no order.
  std::vector<double> latest_step_times_s(RunId id, std::int64_t count);

  // By name. A page is longer than `limit` where the last name stands under further roots, so that
  // `after_experiment`, the last name of the page before, loses none of them.
  std::vector<ExperimentRecord> experiments(const RunFilter& filter, std::int64_t limit,
                                            const std::string& after_experiment);
  std::vector<ParkedFile> parked_files();

  std::vector<PushAgentRecord> push_agents();
  // Without those that had pushed all and have been silent for longer than kListedSilence.
  std::vector<PushAgentRecord> listed_push_agents(parser::Instant now);
  // What is held of a cluster's logs by a store's word, by run, those after `after`.
  std::vector<HeldLog> held_logs(const std::string& store_id, const std::string& cluster,
                                 RunId after, std::int64_t limit);
  // Of the text of a pushed log: where the last block ends (0: there is none), where all blocks
  // are, and those that hold bytes from `begin` up to `end`.
  std::uint64_t log_text_end(RunId id);
  std::vector<LogBlockPlace> log_block_places(RunId id);
  std::vector<LogBlock> log_blocks(RunId id, std::uint64_t begin, std::uint64_t end);

  // Every (root, relative_path) with its cursor, for ingest's start: nothing is read again.
  struct KnownFile {
    RunId run = 0;
    RootId root_id = 0;
    std::string relative_path;
    std::int64_t generation = 0;
    std::string grown_at;
    parser::RunStatus status = parser::RunStatus::no_data;
    bool has_window_source = false;  // false: stored before that was kept
    std::string gpu_type;            // empty: unknown
    bool is_vanished = false;
    std::int64_t reading = 0;  // by which it was told
    LogCursor cursor;
  };
  std::vector<KnownFile> known_files();
  std::vector<KnownFile> known_files(RootId root);

  // What a policy would remove now.
  RemovalPlan removal_plan(const RetentionPolicy& policy, parser::Instant now);
  // What of all that was removed could be let in again.
  UndoPlan undo_plan(const UndoFilter& filter);
  // Another one each time that Writer::let_in_again() took logs of agents while servers had the
  // database open: what agents know of held_logs() is not so any more.
  std::int64_t held_logs_mark();
  // A watched log that was removed, and that stands as it was as far as is known; all of them.
  std::optional<RemovedLog> removed_log(RootId root, const std::string& relative_path);
  std::vector<RemovedLog> removed_logs();
  // Nothing: no run of this id was removed on purpose.
  std::optional<RemovedRun> removed_run(RunId id);
  RemovalTotal removal_total();

  struct Totals {
    std::int64_t runs = 0;
    std::int64_t steps = 0;
    std::int64_t parked = 0;
    // When the log of a running run that is silent for longest grew last; nothing: none runs.
    std::optional<std::string> longest_silent_since;
    std::uint64_t database_bytes = 0;
    std::uint64_t wal_bytes = 0;
  };
  Totals totals();
  // Runs that hang, whose logs grew last at `since` or later.
  std::int64_t hung_run_count(parser::Instant since);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llmb::storage
