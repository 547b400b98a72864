#include <fmt/format.h>

#include <utility>

#include "storage/covered_log_rows.h"
#include "storage/database.h"
#include "storage/empty_root.h"
#include "storage/evidence_rows.h"
#include "storage/generation_rows.h"
#include "storage/log_text_rows.h"
#include "storage/nested_roots.h"
#include "storage/old_steps.h"
#include "storage/open_database.h"
#include "storage/push_rows.h"
#include "storage/removal_undo.h"
#include "storage/removed_log_rows.h"
#include "storage/retention_rows.h"
#include "storage/root_cluster.h"
#include "storage/run_rows.h"
#include "storage/step_chunks.h"
#include "storage/step_rows.h"
#include "storage/told_root.h"

namespace llmb::storage {
namespace {

// Of a program that never takes them.
constexpr std::size_t kChangesKept = 65'536;

// Each step once, in their order.
bool are_in_order(const std::vector<parser::StepSample>& samples) {
  StepKey last = kBeforeAllSteps;
  for (const parser::StepSample& sample : samples) {
    const StepKey key{sample.segment, sample.iteration};
    if (!(last < key)) return false;
    last = key;
  }
  return true;
}

}  // namespace

struct Writer::Impl {
  std::unique_ptr<OpenDatabase> database;
  Connection& connection;
  RunIds new_ids;
  std::int64_t revision = 0;       // the data's, as this writer has stored it
  std::vector<RunChange> changes;  // of the transaction that is under way
  std::vector<RunChange> untaken;  // of those that were committed

  Impl(const OpenOptions& options, const RootClaim& root)
      : database(open_writer_of(options, root)),
        connection(database->connection()),
        new_ids(connection) {}

  ClaimOutcome claim(std::chrono::milliseconds inner_rest) {
    const ClaimOutcome outcome = database->claim(inner_rest);
    if (outcome == ClaimOutcome::taken) {
      revision = connection.read_one_integer("SELECT revision FROM data_revision");
    }
    return outcome;
  }

  // Runs `change` in a transaction that raises the data's revision when `change` returns true:
  // it touched a run. Where `changes` stays empty, nobody says which.
  template <typename Change>
  void commit_change(Change change) {
    database->check();
    changes.clear();
    new_ids.reset();
    Transaction transaction(connection, Transaction::Kind::write);
    const std::int64_t raised = change() ? raise_revision() : revision;
    if (untaken.size() > kChangesKept) untaken.clear();
    untaken.reserve(untaken.size() + changes.size());
    transaction.commit();
    if (raised > revision) database->note_committed();
    revision = raised;
    untaken.insert(untaken.end(), changes.begin(), changes.end());
  }

  void note(RunChange::Kind kind, RunId run) { changes.push_back({kind, run}); }

  // Executes `update`, which returns the ids of the runs that it changed; false: there were none.
  bool run_noting_status(Statement& update) {
    while (update.step()) note(RunChange::Kind::status, update.read_integer());
    return !changes.empty();
  }

  // A database that went back (a replica that had not received everything took over, a backup was
  // put back) would get what comes behind steps that it lacks.
  std::int64_t raise_revision() {
    const std::int64_t raised =
        connection.kept("UPDATE data_revision SET revision = revision + 1 RETURNING revision")
            .run_for_id();
    database->announce({raised, changes});
    if (raised > revision) return raised;
    throw StorageError(
        StorageError::Kind::lost,
        fmt::format("the database {} went back to an earlier state while it was in use: {} changes "
                    "of runs that were stored are not in it. Nothing more is written to it. Start "
                    "llmb-report anew: it goes on reading each log where that state left off.",
                    connection.place(), revision - raised + 1));
  }

  [[noreturn]] void refuse_unknown_run(RunId run) const {
    throw StorageError(
        StorageError::Kind::constraint,
        fmt::format("cannot change run {}: there is none in {}.", run, connection.place()));
  }

  // What has to be sent again to the server that this database is pushed to.
  void mark_changed_steps(RunId run, const IngestBatch& batch) {
    std::optional<StepKey> first;
    if (batch.replaces_all_samples) first = kBeforeAllSteps;
    if (!first && batch.drops_steps_from) {
      first = first_step_from_offset(connection, run, *batch.drops_steps_from);
    }
    for (const parser::StepSample& sample : batch.samples) {
      const StepKey key{sample.segment, sample.iteration};
      if (!first || key < *first) first = key;
    }
    if (first) mark_steps_changed(connection, run, *first);
  }

  // A run that is not stored, and its parts.
  RunId write_new_run(const IngestBatch& batch, const RunTimes& times, bool is_only_generation) {
    if (!is_only_generation) {
      for (const RunId older : supersede_older(connection, batch)) {
        note(RunChange::Kind::superseded, older);
      }
    }
    const RunId run = new_ids.take();
    insert_run(connection, run, batch, times, is_only_generation);
    write_parts(connection, run, batch, true);
    if (!batch.packed_samples.empty()) {
      insert_chunks(connection, run, batch.packed_samples);
    } else if (are_in_order(batch.samples)) {
      insert_steps(connection, run, batch.samples, batch.is_settled);
    } else {
      set_step_count(connection, run, upsert_steps(connection, run, batch.samples));
      if (batch.is_settled) settle_steps(connection, run);
    }
    note(RunChange::Kind::added, run);
    return run;
  }

  // Returns how many steps the run has now.
  std::int64_t write_stored_run(const StoredRun& stored, const IngestBatch& batch) {
    const RunId run = stored.id;
    const bool grown =
        batch.size_bytes > stored.size_bytes || batch.facts.bytes_read > stored.bytes_read;
    update_run(connection, run, batch, grown);
    std::int64_t step_count = stored.step_count;
    if (batch.replaces_all_samples) {
      delete_steps(connection, run);
      step_count = 0;
    }
    if (batch.drops_steps_from) {
      step_count -= delete_steps_from(connection, run, *batch.drops_steps_from);
    }
    step_count += upsert_steps(connection, run, batch.samples);
    if (batch.is_settled) settle_steps(connection, run);
    set_step_count(connection, run, step_count);
    write_parts(connection, run, batch, false);
    mark_profiled(connection, run, batch.configuration);
    note(grown ? RunChange::Kind::grown : RunChange::Kind::status, run);
    return step_count;
  }

  RunId commit_batch(const IngestBatch& batch) {
    const std::optional<StoredRun> stored = find_run(connection, batch);
    if (stored) {
      mark_changed_steps(stored->id, batch);
      write_stored_run(*stored, batch);
      write_cursor(connection, stored->id, batch.cursor);
      return stored->id;
    }
    if (batch.continues_run) return 0;
    forget_removed_log(connection, batch.root_id, batch.relative_path);
    const RunTimes times{batch.observed_at, batch.observed_at, std::nullopt};
    const RunId run = write_new_run(batch, times, false);
    write_cursor(connection, run, batch.cursor);
    thin_generations(connection, batch.root_id, batch.relative_path, run, changes);
    return run;
  }

  PushResult commit_telling(const PushSender& sender, ToldRoot& root, LogTelling& log) {
    const PushDecision decision = root.decide_on(sender, log);
    PushResult result{decision.verdict, decision.revision, decision.step_count, decision.run};
    if (decision.verdict == PushVerdict::covered && decision.run != 0) {
      keep_covered_log(connection, decision.run, sender.store_id, log);
    }
    if (decision.verdict != PushVerdict::taken) return result;
    if (decision.removed != 0) forget_removed_pushed_log(connection, decision.removed);
    const IngestBatch batch = take_batch_of(log, root.id(), decision.generation);
    const RunRecord& told = log.run;
    result.revision = told.revision;
    if (std::optional<StoredRun> stored = find_stored(decision, batch)) {
      if (!log.is_whole()) {
        stored->step_count -=
            delete_steps_from_key(connection, stored->id, log.from.segment, log.from.iteration);
      }
      result.run = stored->id;
      result.step_count = write_stored_run(*stored, batch);
      write_pushed_times(connection, result.run, told);
    } else {
      const RunTimes times{told.first_seen_at, told.grown_at, told.vanished_at};
      result.run = write_new_run(batch, times, decision.is_first_of_log);
      result.step_count = static_cast<std::int64_t>(batch.samples.size());
      if (!decision.is_first_of_log) {
        thin_generations(connection, root.id(), batch.relative_path, result.run, changes);
      }
    }
    write_pushed_run(connection, result.run, sender, log);
    if (!decision.is_first_of_log) {
      forget_covered_log(connection, result.run, sender.store_id, told.generation);
    }
    return result;
  }

  std::optional<StoredRun> find_stored(const PushDecision& decision, const IngestBatch& batch) {
    return decision.is_first_of_log ? std::nullopt : find_run(connection, batch);
  }
};

Writer::Writer(const OpenOptions& options) : impl_(std::make_unique<Impl>(options, RootClaim())) {
  impl_->claim({});
  pack_old_steps(*impl_->database, options.on_old_steps);
}
Writer::Writer(const OpenOptions& options, const RootClaim& root)
    : impl_(std::make_unique<Impl>(options, root)) {}
Writer::~Writer() = default;

std::vector<RunChange> Writer::take_changes() {
  return std::exchange(impl_->untaken, {});
}

ClaimOutcome Writer::claim_root(std::chrono::milliseconds inner_rest) {
  return impl_->claim(inner_rest);
}

TreeHolder Writer::root_holder() {
  return impl_->database->holder();
}

std::vector<std::string> Writer::trees_left_out() {
  return impl_->database->left_out();
}

void Writer::require_same_neighbours() {
  impl_->database->require_same_neighbours();
}

std::int64_t Writer::gather_runs(RootId root, const std::vector<std::string>& left_out) {
  std::int64_t moved = 0;
  impl_->commit_change([&] {
    moved = storage::gather_runs(impl_->connection, root, left_out);
    return moved > 0;
  });
  return moved;
}

RootId Writer::upsert_root(const std::string& path, const std::string& cluster) {
  Connection& connection = impl_->connection;
  RootId id = 0;
  impl_->commit_change([&] {
    connection
        .kept(
            "INSERT INTO root (path, cluster) VALUES (?, ?)"
            " ON CONFLICT (pushed_from, path) DO UPDATE SET cluster = excluded.cluster")
        .text(path)
        .text(cluster)
        .run();
    Statement& find = connection.kept("SELECT id FROM root WHERE path = ? AND pushed_from = ''");
    find.text(path);
    if (find.step()) id = find.read_integer();
    find.reset();
    return move_runs_to_cluster(connection, id, cluster);
  });
  return id;
}

bool Writer::forget_root(const std::string& path) {
  bool is_forgotten = false;
  impl_->commit_change([&] {
    is_forgotten = erase_empty_root(impl_->connection, path);
    return is_forgotten;
  });
  return is_forgotten;
}

void Writer::record_scan(RootId root, const std::string& scanned_at, double scan_s,
                         std::int64_t files_seen, const std::string& error) {
  impl_->commit_change([&] {
    impl_->connection
        .kept(
            "UPDATE root SET last_scan_at = ?, last_scan_s = ?, files_seen = ?, error = ?"
            " WHERE id = ?")
        .text(scanned_at)
        .real(scan_s)
        .integer(files_seen)
        .text(error)
        .integer(root)
        .run();
    return false;
  });
}

void Writer::check_file() {
  impl_->database->check();
}

void Writer::use_rest() {
  impl_->database->use_rest();
}

std::vector<RunId> Writer::commit(std::span<const IngestBatch> batches) {
  std::vector<RunId> runs;
  if (batches.empty()) return runs;
  runs.reserve(batches.size());
  impl_->commit_change([&] {
    for (const IngestBatch& batch : batches) runs.push_back(impl_->commit_batch(batch));
    return true;
  });
  impl_->database->bound_log();
  return runs;
}

std::vector<PushResult> Writer::commit_pushed(const PushSender& sender,
                                              std::vector<LogTelling> logs) {
  std::vector<PushResult> results;
  results.reserve(logs.size());
  impl_->commit_change([&] {
    bool is_changed = false;
    auto roots = told_roots(impl_->connection, sender.cluster, logs);
    for (LogTelling& log : logs) {
      results.push_back(impl_->commit_telling(sender, roots.at(log.root_path), log));
      is_changed |= results.back().verdict == PushVerdict::taken;
    }
    return is_changed;
  });
  impl_->database->bound_log();
  return results;
}

std::vector<std::optional<std::uint64_t>> Writer::commit_log_blocks(
    const PushSender& sender, std::span<const LogBlockTelling> blocks) {
  std::vector<std::optional<std::uint64_t>> ends;
  ends.reserve(blocks.size());
  impl_->commit_change([&] {
    Connection& connection = impl_->connection;
    for (const LogBlockTelling& told : blocks) {
      std::optional<std::uint64_t>& end = ends.emplace_back();
      const auto found = find_told_run(connection, sender.cluster, sender.store_id, told);
      if (!found) continue;
      end = write_log_block(connection, *found, told.block);
    }
    return false;  // of no run anything changed
  });
  impl_->database->bound_log();
  return ends;
}

void Writer::record_push_agent(const PushAgentRecord& agent) {
  impl_->commit_change([&] {
    write_push_agent(impl_->connection, agent);
    return false;
  });
}

void Writer::forget_push_agent(const std::string& store_id) {
  impl_->commit_change([&] {
    erase_push_agent(impl_->connection, store_id);
    return false;
  });
}

void Writer::rename_pushed_cluster(const std::string& from, const std::string& to) {
  impl_->commit_change([&] {
    rename_pushed_roots(impl_->connection, from, to);
    return true;
  });
}

RemovalCount Writer::remove_logs(const RetentionPolicy& policy, std::span<const RunId> newest,
                                 parser::Instant now) {
  RemovalCount removed;
  impl_->commit_change([&] {
    removed = {};
    for (const RunId run : newest) removed += remove_log(impl_->connection, policy, run, now);
    return removed.runs > 0 && !policy.only_log_text;
  });
  impl_->database->bound_log();
  return removed;
}

std::int64_t Writer::let_in_again(std::span<const RunId> removed) {
  std::int64_t count = 0;
  impl_->commit_change([&] {
    count = storage::let_in_again(*impl_->database, removed);
    return false;  // of no run anything changed
  });
  impl_->database->bound_log();
  return count;
}

void Writer::update_configuration(RunId run, const parser::RunConfiguration& configuration,
                                  const std::optional<ListedResult>& listed) {
  impl_->commit_change([&] {
    impl_->connection.kept("UPDATE run SET revision = revision + 1 WHERE id = ?")
        .integer(run)
        .run();
    if (impl_->connection.changes() == 0) impl_->refuse_unknown_run(run);
    impl_->note(RunChange::Kind::status, run);
    write_configuration(impl_->connection, run, configuration);
    write_chosen(impl_->connection, run, configuration, listed.value_or(ListedResult{}));
    if (listed) write_listed(impl_->connection, run, *listed);
    mark_profiled(impl_->connection, run, configuration);
    return true;
  });
}

void Writer::update_listed(std::span<const JudgedRun> runs) {
  if (runs.empty()) return;
  impl_->commit_change([&] {
    Connection& connection = impl_->connection;
    for (const JudgedRun& judged : runs) {
      connection.kept("UPDATE run SET revision = revision + 1 WHERE id = ? AND revision = ?")
          .integer(judged.run)
          .integer(judged.revision)
          .run();
      if (connection.changes() == 0) continue;
      write_listed(connection, judged.run, judged.listed);
      mark_profiled(connection, judged.run, read_configuration(connection, judged.run));
      impl_->note(RunChange::Kind::status, judged.run);
    }
    return !impl_->changes.empty();
  });
}

void Writer::mark_vanished(RootId root, const std::string& relative_path, const std::string& at) {
  impl_->commit_change([&] {
    forget_removed_log(impl_->connection, root, relative_path);
    Statement& update = impl_->connection.kept(
        "UPDATE run SET vanished_at = ?, revision = revision + 1"
        " WHERE root_id = ? AND relative_path = ? AND is_superseded = 0 AND vanished_at IS NULL"
        " RETURNING id");
    update.text(at).integer(root).text(relative_path);
    return impl_->run_noting_status(update);
  });
}

void Writer::update_verdict(const RunRecord& run) {
  impl_->commit_change([&] {
    if (!write_verdict_of_vanished(impl_->connection, run)) return false;
    mark_profiled(impl_->connection, run.id, read_configuration(impl_->connection, run.id));
    impl_->note(RunChange::Kind::status, run.id);
    return true;
  });
}

void Writer::mark_returned(RootId root, const std::string& relative_path) {
  impl_->commit_change([&] {
    Statement& update = impl_->connection.kept(
        "UPDATE run SET vanished_at = NULL, revision = revision + 1"
        " WHERE root_id = ? AND relative_path = ? AND is_superseded = 0"
        " AND vanished_at IS NOT NULL RETURNING id");
    update.integer(root).text(relative_path);
    return impl_->run_noting_status(update);
  });
}

void Writer::park(const ParkedFile& file) {
  impl_->commit_change([&] {
    static const std::string sql = put_row_sql(
        "parked_file", 2, "root_id, relative_path, reason, parked_at, retry_at, failures");
    impl_->connection.kept(sql)
        .integer(file.root_id)
        .text(file.relative_path)
        .text(file.reason)
        .text(file.parked_at)
        .text(file.retry_at)
        .integer(file.failures)
        .run();
    return false;
  });
}

void Writer::unpark(RootId root, const std::string& relative_path) {
  impl_->commit_change([&] {
    impl_->connection.kept("DELETE FROM parked_file WHERE root_id = ? AND relative_path = ?")
        .integer(root)
        .text(relative_path)
        .run();
    return false;
  });
}

}  // namespace llmb::storage
