#include "storage/postgresql_connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "storage/database_place.h"
#include "storage/postgresql_dialect.h"
#include "storage/postgresql_statement.h"
#include "storage/postgresql_text.h"

namespace llmb::storage {
namespace {

using Kind = StorageError::Kind;

// Whoever writes holds it until the end of its transaction.
constexpr std::int64_t kWriteTurn = 0x4C4C4D42'57524954;  // "LLMBWRIT"

constexpr std::int64_t kPollMsMax = 60'000;

const std::string kCommit = "COMMIT";

int send_commit(PGconn* server) {
  return PQsendQueryParams(server, kCommit.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
}

}  // namespace

// Rows on their way by COPY, in its text form: values with tabs between them, a row a line.
class PostgresqlRowSink : public RowSink {
 public:
  PostgresqlRowSink(PostgresqlConnection& connection, std::string_view table,
                    std::string_view columns)
      : connection_(connection), doing_(fmt::format("write rows of {}", table)) {
    connection_.begin_copy(fmt::format("COPY {} ({}) FROM STDIN", table, columns), doing_);
  }
  ~PostgresqlRowSink() override {
    if (!is_finished_) connection_.abandon_copy();
  }

  void integer(std::int64_t value) override {
    begin_value();
    fmt::format_to(std::back_inserter(lines_), "{}", value);
  }
  void real(double value) override {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    begin_value();
    lines_.append(text.data(), end);
  }
  void borrowed_text(std::string_view value) override {
    begin_value();
    append_copied_text(lines_, postgresql_text(value));
  }
  void bytes(std::string_view value) override {
    begin_value();
    append_copied_bytes(lines_, value);
  }
  void null() override {
    begin_value();
    lines_ += "\\N";
  }
  void end_row() override {
    lines_ += '\n';
    is_in_row_ = false;
    if (lines_.size() >= kSentAtOnce) send();
  }
  void finish() override {
    send();
    connection_.end_copy(doing_);
    is_finished_ = true;
  }

 private:
  static constexpr std::size_t kSentAtOnce = 65'536;

  void begin_value() {
    if (is_in_row_) lines_ += '\t';
    is_in_row_ = true;
  }
  void send() {
    connection_.put_copied(lines_, doing_);
    lines_.clear();
  }

  PostgresqlConnection& connection_;
  const std::string doing_;
  std::string lines_;
  bool is_in_row_ = false;
  bool is_finished_ = false;
};

PostgresqlConnection::PostgresqlConnection(const std::string& url, Mode mode)
    : Connection(shown_place(url)), session_(url, place(), mode) {}

PostgresqlConnection::~PostgresqlConnection() {
  drop_kept();
}

// The first of those that have come.
std::optional<std::string> PostgresqlConnection::take_notice() {
  const auto next = [this]() -> std::optional<std::string> {
    const std::unique_ptr<PGnotify, decltype(&PQfreemem)> notice{PQnotifies(session_.server()),
                                                                 PQfreemem};
    return notice ? std::optional<std::string>(notice->extra) : std::nullopt;
  };
  if (auto notice = next()) return notice;
  if (PQconsumeInput(session_.server()) == 0 || session_.is_broken())
    session_.fail(nullptr, "listen for changes");
  return next();
}

std::optional<std::string> PostgresqlConnection::wait_for_notice(std::chrono::milliseconds timeout,
                                                                 int wake) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (auto notice = take_notice()) return notice;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds::zero()) return std::nullopt;
    std::array<pollfd, 2> waited = {pollfd{PQsocket(session_.server()), POLLIN, 0},
                                    pollfd{wake, POLLIN, 0}};
    const auto left_ms = static_cast<int>(std::min<std::int64_t>(left.count(), kPollMsMax));
    if (poll(waited.data(), waited.size(), left_ms) < 0 && errno != EINTR) {
      session_.fail(nullptr, "wait for changes");
    }
    if (waited[1].revents != 0) return std::nullopt;
  }
}

const SqlDialect& PostgresqlConnection::dialect() const {
  return postgresql_dialect();
}

std::unique_ptr<EngineStatement> PostgresqlConnection::prepare(std::string_view sql, bool is_kept) {
  std::string name = is_kept ? fmt::format("kept_{}", ++statements_made_) : std::string();
  return std::make_unique<PostgresqlStatement>(session_, sql, std::move(name));
}

void PostgresqlConnection::release_locks() noexcept {
  if (session_.is_broken() || is_in_transaction()) return;
  PQclear(PQexec(session_.server(), "SELECT pg_advisory_unlock_all()"));
}

void PostgresqlConnection::execute(const std::string& sql) {
  session_.answer_to([&](PGconn* server) { return PQexec(server, sql.c_str()); }, sql);
}

std::unique_ptr<RowSink> PostgresqlConnection::row_sink(std::string_view table,
                                                        std::string_view columns) {
  return std::make_unique<PostgresqlRowSink>(*this, table, columns);
}

void PostgresqlConnection::begin_copy(const std::string& sql, std::string_view doing) {
  session_.settle();
  const PostgresqlResult result(PQexec(session_.server(), sql.c_str()));
  if (PQresultStatus(result.get()) != PGRES_COPY_IN) session_.fail(result.get(), doing);
}

void PostgresqlConnection::put_copied(std::string_view lines, std::string_view doing) {
  if (lines.empty()) return;
  if (PQputCopyData(session_.server(), lines.data(), static_cast<int>(lines.size())) != 1) {
    session_.fail(nullptr, doing);
  }
}

void PostgresqlConnection::end_copy(std::string_view doing) {
  const bool is_sent = PQputCopyEnd(session_.server(), nullptr) == 1;
  if (!is_sent) session_.fail(nullptr, doing);
  const PostgresqlResult result(PQgetResult(session_.server()));
  while (pg_result* const rest = PQgetResult(session_.server())) PQclear(rest);
  if (result.has_failed()) session_.fail(result.get(), doing);
}

void PostgresqlConnection::abandon_copy() noexcept {
  PQputCopyEnd(session_.server(), "given up");
  while (pg_result* const result = PQgetResult(session_.server())) {
    const bool is_over = PQresultStatus(result) == PGRES_COPY_IN;  // the connection broke
    PQclear(result);
    if (is_over) return;
  }
}

void PostgresqlConnection::begin(TransactionKind kind) {
  if (kind == TransactionKind::read) {
    execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return;
  }
  execute("BEGIN");
  execute(fmt::format("SELECT pg_advisory_xact_lock({})", kWriteTurn));
}

// Of a transaction in which a statement failed, PostgreSQL makes a rollback, and says no error.
void PostgresqlConnection::commit() {
  PostgresqlResult result;
  if (session_.has_sent()) {
    session_.send(&send_commit, kCommit);
    result = session_.settle();
  } else {
    result =
        session_.answer_to([](PGconn* server) { return PQexec(server, kCommit.c_str()); }, kCommit);
  }
  if (std::string_view(PQcmdStatus(result.get())) != "COMMIT") {
    throw StorageError(Kind::io, fmt::format("cannot commit (database {}): an earlier statement "
                                             "of the transaction failed. Nothing was written.",
                                             place()));
  }
}

}  // namespace llmb::storage
