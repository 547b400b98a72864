#include "storage/push_store.h"

#include "storage/file_guard.h"
#include "storage/push_rows.h"
#include "storage/run_rows.h"
#include "storage/schema.h"
#include "storage/sqlite_connection.h"
#include "storage/step_rows.h"

namespace llmb::storage {
namespace {

constexpr std::string_view kFromPending =
    " FROM run JOIN root ON root.id = run.root_id LEFT JOIN push_state AS p ON p.run_id = run.id"
    " WHERE root.pushed_from = '' AND (p.run_id IS NULL OR p.server_revision <> run.revision"
    " OR (p.from_segment, p.from_iteration) < (9223372036854775807, 0))";

}  // namespace

struct PushStore::Impl {
  Connection connection;
  FileGuard guard;

  explicit Impl(const std::string& path)
      : connection(path, Connection::Mode::read_write), guard(connection) {
    require_current_schema(connection);
    connection.execute("PRAGMA synchronous = NORMAL");
  }

  template <typename Change>
  void change(const Change& change) {
    guard.check();
    Transaction transaction(connection, Transaction::Kind::write);
    change();
    transaction.commit();
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
            " from_iteration = iif((next_segment, next_iteration) < (?3, ?4), next_iteration, ?4)"
            " WHERE run_id = ?5")
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
                "UPDATE push_state SET server_revision = ?, server_step_count = ?,"
                " from_segment = -1, from_iteration = 0 WHERE run_id = ?")
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
  static const std::string sql =
      "SELECT run.id" + std::string(kFromPending) + " AND run.id > ? ORDER BY run.id LIMIT ?";
  Statement& select = impl_->connection.kept(sql);
  select.integer(after).integer(limit);
  std::vector<RunId> runs;
  while (select.step()) runs.push_back(select.read_integer());
  return runs;
}

std::int64_t PushStore::pending_count() {
  return impl_->connection.read_one_integer("SELECT count(*)" + std::string(kFromPending));
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
  impl_->change([&] {
    for (const HeldLog& log : held) {
      impl_->connection
          .kept(
              "INSERT INTO push_state (run_id, server_revision, server_step_count)"
              " SELECT run.id, ?4, ?5 FROM run JOIN root ON root.id = run.root_id"
              " WHERE root.pushed_from = '' AND root.path = ?1"
              " AND run.relative_path = ?2 AND run.generation = ?3"
              " ON CONFLICT (run_id) DO UPDATE SET is_confirmed = 1, server_revision = ?4,"
              " server_step_count = ?5, from_segment = iif(server_revision = ?4"
              " AND server_step_count = ?5, from_segment, -1)")
          .text(log.root_path)
          .text(log.relative_path)
          .integer(log.generation)
          .integer(log.revision)
          .integer(log.step_count)
          .run();
    }
  });
}

void PushStore::end_comparison() {
  impl_->change([&] {
    impl_->connection.execute(
        "UPDATE push_state SET server_revision = 0, server_step_count = 0, from_segment = -1,"
        " from_iteration = 0, is_confirmed = 1 WHERE is_confirmed = 0");
    impl_->connection.execute("UPDATE push_state SET from_iteration = 0 WHERE from_segment = -1");
  });
}

}  // namespace llmb::storage
