#include "storage/postgresql_session.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <utility>

#include "storage/beginning_anew.h"
#include "storage/storage_error.h"

namespace llmb::storage {
namespace {

using Kind = StorageError::Kind;

// So many statements may be on their way: what came of them is kept until it is read.
constexpr std::size_t kSentMost = 1'000;

// The server notices within a minute that a machine is gone, and gives up its locks; by itself it
// would ask after two hours.
constexpr const char* kBeginWriting =
    "SET default_transaction_isolation = 'read committed'; SET tcp_keepalives_idle = 30;"
    " SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3";

Kind kind_of(std::string_view sql_state) {
  // 54: longer than an index takes, a path of some thousand bytes.
  for (const char* const fault_of_the_data : {"22", "23", "54"}) {
    if (sql_state.starts_with(fault_of_the_data)) return Kind::constraint;
  }
  if (sql_state == "53100") return Kind::disk_full;
  if (sql_state.starts_with("53") || sql_state.starts_with("55") || sql_state.starts_with("40")) {
    return Kind::busy_elsewhere;
  }
  if (sql_state.starts_with("XX")) return Kind::corrupt;
  return Kind::io;
}

std::string advice(Kind kind) {
  switch (kind) {
    case Kind::disk_full:
      return "Free some space on the server's disk; nothing was half-written. Once there is "
             "room, run it again; a daemon that runs goes on by itself.";
    case Kind::busy_elsewhere:
      return "The server is busy or out of room for connections; it is tried again.";
    case Kind::corrupt:
      return "The server's data is damaged: its log says more. Put back a backup, or give "
             "llmb-report an empty database: " +
             std::string(kBeginningAnew) + ".";
    case Kind::constraint:
      return "The record contradicts what is stored; nothing was written.";
    default:
      return "Check that the server runs, that its name, port, user and password in --db are "
             "right, and that the user may make tables.";
  }
}

// What follows it asks or advises.
std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

// What was being done, for a message.
std::string executing(std::string_view sql) {
  return sql == "COMMIT" ? "commit" : fmt::format("execute \"{}\"", sql.substr(0, 60));
}

}  // namespace

PostgresqlSession::PostgresqlSession(const std::string& url, std::string place, Mode mode)
    : place_(std::move(place)), mode_(mode) {
  // What the URL says itself comes last, and counts.
  const std::array<const char*, 6> names = {"connect_timeout", "application_name",
                                            "client_encoding", "keepalives_idle",
                                            "dbname",          nullptr};
  const std::array<const char*, 6> values = {"10", "llmb-report", "UTF8",
                                             "30", url.c_str(),   nullptr};
  server_ = PQconnectdbParams(names.data(), values.data(), 1);
  try {
    if (is_broken()) fail(nullptr, "reach it");
    renew();
  } catch (...) {
    PQfinish(server_);
    throw;
  }
}

PostgresqlSession::~PostgresqlSession() {
  PQfinish(server_);
}

bool PostgresqlSession::is_broken() const {
  return PQstatus(server_) != CONNECTION_OK;
}

bool PostgresqlSession::is_in_transaction() const {
  if (has_sent()) return true;
  const PGTransactionStatusType status = PQtransactionStatus(server_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

// What every session begins with; a connection that broke is made first.
void PostgresqlSession::renew() {
  if (is_broken()) {
    PQreset(server_);
    if (is_broken()) fail(nullptr, "reach it again");
    ++number_;
  }
  state_ = State::new_one;
  // Notices ("relation exists") are nobody's to read here.
  PQsetNoticeProcessor(
      server_, [](void*, const char*) {}, nullptr);
  const char* const begin =
      mode_ == Mode::read_only ? "SET default_transaction_read_only = on" : kBeginWriting;
  const PostgresqlResult set(PQexec(server_, begin));
  if (set.has_failed()) fail(set.get(), "begin a session");
  if (react_) {
    state_ = State::begins;
    try {
      react_();
    } catch (...) {
      state_ = State::new_one;
      throw;
    }
  }
  state_ = State::stands;
}

void PostgresqlSession::ensure() {
  if (state_ == State::begins) return;
  // Notices where the server has ended the session: the end stands behind a last word.
  for (int i = 0; i < 2; ++i) PQconsumeInput(server_);
  if (is_broken() || state_ == State::new_one) renew();
}

PostgresqlResult PostgresqlSession::answer_to(const Ask& ask, std::string_view sql) {
  settle();
  const bool may_send_again = !is_in_transaction() && state_ != State::begins;
  if (may_send_again) ensure();
  PostgresqlResult result(ask(server_));
  if (result.has_failed() && is_broken() && may_send_again) {
    renew();
    result = PostgresqlResult(ask(server_));
  }
  if (result.has_failed()) fail(result.get(), executing(sql));
  if (const auto changes = changed_rows(result.get())) changes_ = *changes;
  return result;
}

bool PostgresqlSession::may_send_ahead() const {
  return has_sent() || PQtransactionStatus(server_) == PQTRANS_INTRANS;
}

void PostgresqlSession::send(const PostgresqlPipeline::Send& send, const std::string& sql,
                             std::uint64_t* prepared_in_session) {
  if (pipeline_.send(server_, send, sql, prepared_in_session)) return;
  settle();
  fail(nullptr, executing(sql));
}

PostgresqlResult PostgresqlSession::settle() {
  if (!has_sent()) return PostgresqlResult();
  PostgresqlPipeline::Outcome outcome = pipeline_.end(server_);
  if (outcome.changes) changes_ = *outcome.changes;
  if (outcome.last.has_failed()) fail(outcome.last.get(), executing(*outcome.sql));
  return std::move(outcome.last);
}

void PostgresqlSession::bound_sent() {
  if (pipeline_.size() >= kSentMost) settle();
}

void PostgresqlSession::roll_back() noexcept {
  if (has_sent()) pipeline_.end(server_);
  PQclear(PQexec(server_, "ROLLBACK"));
}

std::int64_t PostgresqlSession::changes() {
  settle();
  return changes_;
}

void PostgresqlSession::fail(pg_result* result, std::string_view doing) const {
  const char* const state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const Kind kind = state == nullptr ? Kind::io : kind_of(state);
  const char* const said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
  throw StorageError(kind,
                     fmt::format("cannot {} (database {}): {}. {}", doing, place_,
                                 first_line(said ? said : PQerrorMessage(server_)), advice(kind)));
}

}  // namespace llmb::storage
