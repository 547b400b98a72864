#include "storage/push_store.h"

#include "storage/copy_mark.h"
#include "storage/database_place.h"
#include "storage/file_guard.h"
#include "storage/push_rows.h"
#include "storage/run_rows.h"
#include "storage/schema.h"
#include "storage/sqlite_connection.h"
#include "storage/step_rows.h"

namespace llmb::storage {
namespace {

// Every run of a watched tree has a row in push_state once note_new_runs() has passed it.
constexpr std::string_view kFromNewRuns =
    " FROM run WHERE id > (SELECT coalesce(max(run_id), 0) FROM push_state)"
    " AND (SELECT pushed_from FROM root WHERE root.id = run.root_id) = ''";
// So many get theirs in one transaction: the Writer waits for no more.
constexpr std::int64_t kNewRunsAtOnce = 20'000;

// Of a row of push_state: the server lacks something of its run.
constexpr std::string_view kLacks =
    "(server_revision <> (SELECT revision FROM run WHERE run.id = run_id)"
    " OR (from_segment, from_iteration) < (9223372036854775807, 0))";

constexpr std::string_view kPending =
    "SELECT run_id FROM push_state WHERE is_pending = 1 AND run_id > ? ORDER BY run_id LIMIT ?";
constexpr std::string_view kTextPending =
    "SELECT run_id FROM push_state WHERE is_text_pending = 1 AND run_id > ? AND is_pending = 0"
    " ORDER BY run_id LIMIT ?";
constexpr std::string_view kPendingCount = "SELECT count(*) FROM push_state WHERE is_pending = 1";

std::string file_of(const std::string& path) {
  if (!is_postgresql(path)) return path;
  throw StorageError(StorageError::Kind::io,
                     "cannot push from " + shown_place(path) +
                         ": what an agent pushes stands in a file of its own. Name one with --db.");
}

// Of a row of push_state: more of the log was read than the server holds of its text.
std::string lacks_text(const std::string& held) {
  return "(" + held +
         " < coalesce((SELECT r.bytes_read FROM run AS r JOIN log_cursor AS c ON c.run_id = r.id"
         " WHERE r.id = push_state.run_id), 0))";
}

std::string new_runs_sql() {
  return "SELECT EXISTS (SELECT 1" + std::string(kFromNewRuns) + ")";
}

}  // namespace

std::vector<std::string> pending_sql() {
  return {new_runs_sql(), std::string(kPending), std::string(kTextPending),
          std::string(kPendingCount)};
}

struct PushStore::Impl {
  SqliteConnection connection;
  FileGuard guard;

  explicit Impl(const std::string& path)
      : connection(file_of(path), SqliteConnection::Mode::read_write), guard(connection) {
    require_current_schema(connection);
    refuse_half_copied(connection);
    connection.execute("PRAGMA synchronous = NORMAL");
  }

  template <typename Change>
  void change(const Change& change) {
    guard.check();
    Transaction transaction(connection, Transaction::Kind::write);
    change();
    transaction.commit();
  }

  // By their ids, which rise: none is found below the last one that has a row.
  void note_new_runs() {
    static const std::string find = new_runs_sql();
    static const std::string note = "INSERT INTO push_state (run_id) SELECT id" +
                                    std::string(kFromNewRuns) + " ORDER BY id LIMIT ?";
    const auto has_new = [&] {
      Statement& found = connection.kept(find);
      const bool has = found.step() && found.read_boolean();
      found.reset();
      return has;
    };
    while (has_new()) {
      change([&] { connection.kept(note).integer(kNewRunsAtOnce).run(); });
    }
  }

  std::vector<RunId> runs_of(std::string_view sql, RunId after, std::int64_t limit) {
    Statement& select = connection.kept(sql);
    select.integer(after).integer(limit);
    std::vector<RunId> runs;
    while (select.step()) runs.push_back(select.read_integer());
    return runs;
  }

  bool read_head(LogTelling& log) {
    static const std::string sql = select_run_sql() + " WHERE id = ?";
    Statement& row = connection.kept(sql);
    if (!row.integer(log.run.id).step()) return false;
    log.run = read_run_row(row);
    row.reset();
    read_run_parts(connection, log.run);
    Statement& state = connection.kept(
        "SELECT root.path, p.server_revision, p.server_step_count, p.from_segment,"
        " p.from_iteration, c.head_hash, c.head_length FROM run JOIN root ON root.id = run.root_id"
        " JOIN push_state AS p ON p.run_id = run.id LEFT JOIN log_cursor AS c ON c.run_id = run.id"
        " WHERE run.id = ?");
    if (!state.integer(log.run.id).step()) return false;
    log.root_path = state.read_text();
    log.known_revision = state.read_integer();
    log.known_step_count = state.read_integer();
    log.from.segment = state.read_integer();
    log.from.iteration = state.read_integer();
    log.head_hash = state.read_bits();
    log.head_length = static_cast<std::uint32_t>(state.read_integer());
    state.reset();
    return true;
  }

  void keep_progress(const Answer& answer) {
    connection
        .kept(
            "UPDATE push_state SET server_revision = ?1, server_step_count = ?2,"
            " from_segment = iif((next_segment, next_iteration) < (?3, ?4), next_segment, ?3),"
            " from_iteration = iif((next_segment, next_iteration) < (?3, ?4), next_iteration, ?4),"
            " is_pending = (?3, ?4) < (9223372036854775807, 0)"
            " OR (next_segment, next_iteration) < (9223372036854775807, 0)"
            " OR ?1 <> (SELECT revision FROM run WHERE run.id = run_id) WHERE run_id = ?5")
        .integer(answer.told_revision)
        .integer(answer.result.step_count)
        .integer(answer.told_end.segment)
        .integer(answer.told_end.iteration)
        .integer(answer.run)
        .run();
  }

  void keep(Answer answer) {
    switch (answer.result.verdict) {
      case PushVerdict::deferred:
        return;
      case PushVerdict::conflict:
        connection
            .kept(
                "UPDATE push_state SET server_revision = ?1, server_step_count = ?2,"
                " from_segment = -1, from_iteration = 0, is_pending = 1,"
                " text_bytes = iif(?1 = 0, 0, text_bytes), is_text_pending = 1 WHERE run_id = ?3")
            .integer(answer.result.revision)
            .integer(answer.result.step_count)
            .integer(answer.run)
            .run();
        return;
      case PushVerdict::covered:
        answer.told_end = kBehindAllSteps;
        [[fallthrough]];
      case PushVerdict::taken:
      case PushVerdict::known:
        keep_progress(answer);
        return;
    }
  }
};

PushStore::PushStore(const std::string& database_path)
    : impl_(std::make_unique<Impl>(database_path)) {}
PushStore::~PushStore() = default;

std::string PushStore::store_id() {
  Statement& select = impl_->connection.kept("SELECT store_id FROM store");
  std::string id = select.step() ? select.read_text() : std::string();
  select.reset();
  return id;
}

std::int64_t PushStore::data_revision() {
  return impl_->connection.read_one_integer("SELECT revision FROM data_revision");
}

std::vector<RunId> PushStore::pending(RunId after, std::int64_t limit) {
  impl_->note_new_runs();
  return impl_->runs_of(kPending, after, limit);
}

std::vector<RunId> PushStore::text_pending(RunId after, std::int64_t limit) {
  return impl_->runs_of(kTextPending, after, limit);
}

std::optional<PushStore::LogText> PushStore::log_text(RunId run) {
  Connection& connection = impl_->connection;
  const std::optional<LogCursor> cursor = read_cursor(connection, run);
  Statement& find = connection.kept(
      "SELECT root.path, run.relative_path, run.generation, run.bytes_read, p.text_bytes FROM run"
      " JOIN root ON root.id = run.root_id JOIN push_state AS p ON p.run_id = run.id"
      " WHERE run.id = ?");
  if (!find.integer(run).step()) return std::nullopt;
  LogText text;
  text.root_path = find.read_text();
  text.relative_path = find.read_text();
  text.generation = find.read_integer();
  text.bytes_read = find.read_bits();
  text.server_bytes = find.read_bits();
  find.reset();
  if (!cursor) text.bytes_read = 0;  // nothing was read of it here
  text.cursor = cursor.value_or(LogCursor{});
  return text;
}

void PushStore::keep_text(RunId run, std::optional<std::uint64_t> end) {
  impl_->change([&] {
    if (!end) {
      impl_->connection.kept("UPDATE push_state SET is_text_pending = 0 WHERE run_id = ?")
          .integer(run)
          .run();
      return;
    }
    static const std::string sql =
        "UPDATE push_state SET text_bytes = ?1, is_text_pending = " + lacks_text("?1") +
        " WHERE run_id = ?2";
    impl_->connection.kept(sql).bits(*end).integer(run).run();
  });
}

std::int64_t PushStore::pending_count() {
  impl_->note_new_runs();
  return impl_->connection.read_one_integer(kPendingCount);
}

std::optional<LogTelling> PushStore::tell(RunId run, std::int64_t steps_max) {
  begin_telling({&run, 1});
  return read_telling(run, steps_max);
}

void PushStore::begin_telling(std::span<const RunId> runs) {
  impl_->change([&] {
    for (const RunId run : runs) {
      impl_->connection
          .kept(
              "INSERT INTO push_state (run_id, next_segment, next_iteration)"
              " SELECT id, 9223372036854775807, 0 FROM run WHERE id = ?"
              " ON CONFLICT (run_id) DO UPDATE SET next_segment = excluded.next_segment,"
              " next_iteration = excluded.next_iteration")
          .integer(run)
          .run();
    }
  });
}

std::optional<LogTelling> PushStore::read_telling(RunId run, std::int64_t steps_max) {
  Connection& connection = impl_->connection;
  Transaction transaction(connection, Transaction::Kind::read);
  LogTelling log;
  log.run.id = run;
  if (!impl_->read_head(log)) return std::nullopt;
  log.is_settled = are_settled(connection, run);
  log.steps = read_steps_from(connection, run, log.from.segment, log.from.iteration, steps_max + 1);
  log.has_more = static_cast<std::int64_t>(log.steps.size()) > steps_max;
  if (log.has_more) log.steps.pop_back();
  transaction.commit();
  return log;
}

void PushStore::keep_answers(std::span<const Answer> answers) {
  impl_->change([&] {
    for (const Answer& answer : answers) impl_->keep(answer);
  });
}

void PushStore::begin_comparison() {
  impl_->change([&] { impl_->connection.execute("UPDATE push_state SET is_confirmed = 0"); });
}

void PushStore::compare(std::span<const HeldLog> held) {
  impl_->note_new_runs();
  impl_->change([&] {
    for (const HeldLog& log : held) {
      impl_->connection
          .kept(
              "INSERT INTO push_state (run_id, server_revision, server_step_count, text_bytes)"
              " SELECT run.id, ?4, ?5, ?6 FROM run JOIN root ON root.id = run.root_id"
              " WHERE root.pushed_from = '' AND root.path = ?1"
              " AND run.relative_path = ?2 AND run.generation = ?3"
              " ON CONFLICT (run_id) DO UPDATE SET is_confirmed = 1, server_revision = ?4,"
              " text_bytes = ?6,"
              " server_step_count = ?5, from_segment = iif(server_revision = ?4"
              " AND server_step_count = ?5, from_segment, -1),"
              " is_pending = is_pending OR server_revision <> ?4 OR server_step_count <> ?5")
          .text(log.root_path)
          .text(log.relative_path)
          .integer(log.generation)
          .integer(log.revision)
          .integer(log.step_count)
          .bits(log.text_bytes)
          .run();
    }
  });
}

void PushStore::end_comparison() {
  impl_->change([&] {
    impl_->connection.execute(
        "UPDATE push_state SET server_revision = 0, server_step_count = 0, from_segment = -1,"
        " from_iteration = 0, text_bytes = 0, is_confirmed = 1 WHERE is_confirmed = 0");
    impl_->connection.execute("UPDATE push_state SET from_iteration = 0 WHERE from_segment = -1");
    impl_->connection.execute(
        "UPDATE push_state SET is_pending = NOT is_pending WHERE is_pending <> " +
        std::string(kLacks));
    impl_->connection.execute(
        "UPDATE push_state SET is_text_pending = NOT is_text_pending WHERE is_text_pending <> " +
        lacks_text("text_bytes"));
  });
}

}  // namespace llmb::storage
