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

#include "parser/foundation/parse_number.h"
#include "storage/database_place.h"
#include "storage/postgresql_dialect.h"
#include "storage/postgresql_text.h"

namespace llmb::storage {
namespace {

using Kind = StorageError::Kind;

// Whoever writes holds it until the end of its transaction.
constexpr std::int64_t kWriteTurn = 0x4C4C4D42'57524954;  // "LLMBWRIT"

constexpr std::int64_t kPollMsMax = 60'000;

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

std::string_view advice(Kind kind) {
  switch (kind) {
    case Kind::disk_full:
      return "Free some space on the server's disk; nothing was half-written, and ingest goes on "
             "by itself.";
    case Kind::busy_elsewhere:
      return "The server is busy or out of room for connections; it is tried again.";
    case Kind::corrupt:
      return "The server's data is damaged: its log says more. Put back a backup, or give "
             "llmb-report an empty database: the logs are read anew.";
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

bool has_failed(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
}

}  // namespace

void PostgresqlResult::clear(pg_result* handle) {
  PQclear(handle);
}

// Prepares its text in the session in which it is first run, and in each that follows.
class PostgresqlStatement : public EngineStatement {
 public:
  PostgresqlStatement(PostgresqlConnection& connection, std::string_view sql, std::string name)
      : connection_(connection), sql_(with_numbered_parameters(sql)), name_(std::move(name)) {}

  void bind_integer(int parameter, std::int64_t value) override {
    set(parameter, fmt::to_string(value));
  }
  void bind_real(int parameter, double value) override {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    set(parameter, std::string(text.data(), end));
  }
  void bind_text(int parameter, std::string_view value, bool /*is_borrowed*/) override {
    set(parameter, postgresql_text(value));
  }
  void bind_bytes(int parameter, std::string_view value) override {
    set(parameter, std::string(value), kBinary);
  }
  void bind_null(int parameter) override { set(parameter, std::nullopt); }

  bool step() override;
  void reset() override {
    rows_ = PostgresqlResult();
    row_ = -1;
  }

  bool is_null(int column) const override { return PQgetisnull(rows_.get(), row_, column) != 0; }
  std::int64_t integer(int column) const override;
  double real(int column) const override;
  std::string text(int column) const override { return from_postgresql_text(raw(column)); }
  std::string bytes(int column) const override;

 private:
  // As libpq numbers how a value is written.
  static constexpr int kText = 0;
  static constexpr int kBinary = 1;
  struct Value {
    std::optional<std::string> bytes;
    int format = kText;
  };

  void set(int parameter, std::optional<std::string> bytes, int format = kText) {
    const auto place = static_cast<std::size_t>(parameter);
    if (values_.size() <= place) values_.resize(place + 1);
    values_[place] = {std::move(bytes), format};
  }
  std::string_view raw(int column) const {
    return {PQgetvalue(rows_.get(), row_, column),
            static_cast<std::size_t>(PQgetlength(rows_.get(), row_, column))};
  }
  std::string doing() const { return "execute \"" + sql_.sql.substr(0, 60) + "\""; }
  PostgresqlResult ask();

  PostgresqlConnection& connection_;
  NumberedSql sql_;
  std::string name_;  // empty: it is run once
  std::uint64_t prepared_in_session_ = 0;
  std::vector<Value> values_;
  PostgresqlResult rows_;
  int row_ = -1;
};

PostgresqlResult PostgresqlStatement::ask() {
  const auto count = static_cast<std::size_t>(sql_.parameters);
  std::vector<const char*> values(count, nullptr);
  std::vector<int> lengths(count, 0);
  std::vector<int> formats(count, kText);
  for (std::size_t i = 0; i < count && i < values_.size(); ++i) {
    if (!values_[i].bytes) continue;
    values[i] = values_[i].bytes->c_str();
    lengths[i] = static_cast<int>(values_[i].bytes->size());
    formats[i] = values_[i].format;
  }
  const auto send = [&](PGconn* server) -> PGresult* {
    if (name_.empty()) {
      return PQexecParams(server, sql_.sql.c_str(), sql_.parameters, nullptr, values.data(),
                          lengths.data(), formats.data(), kText);
    }
    if (prepared_in_session_ != connection_.session_) {
      PostgresqlResult prepared(
          PQprepare(server, name_.c_str(), sql_.sql.c_str(), sql_.parameters, nullptr));
      if (has_failed(prepared.get())) return prepared.release();
      prepared_in_session_ = connection_.session_;
    }
    return PQexecPrepared(server, name_.c_str(), sql_.parameters, values.data(), lengths.data(),
                          formats.data(), kText);
  };
  return connection_.answer_to(send, doing());
}

bool PostgresqlStatement::step() {
  if (!rows_) {
    rows_ = ask();
    row_ = -1;
    const auto changed = parser::parse_digits(PQcmdTuples(rows_.get()));
    const bool is_select = std::string_view(PQcmdStatus(rows_.get())).starts_with("SELECT");
    if (changed && !is_select) connection_.changes_ = *changed;
  }
  if (++row_ < PQntuples(rows_.get())) return true;
  reset();
  return false;
}

std::int64_t PostgresqlStatement::integer(int column) const {
  const std::string_view value = raw(column);
  if (value == "t") return 1;
  return parser::parse_integer(value).value_or(0);  // "f" and NULL are 0
}

double PostgresqlStatement::real(int column) const {
  const std::string_view value = raw(column);
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

// The server writes bytes as hexadecimal digits.
std::string PostgresqlStatement::bytes(int column) const {
  const auto* digits =
      reinterpret_cast<const unsigned char*>(PQgetvalue(rows_.get(), row_, column));  // NOLINT
  std::size_t size = 0;
  const std::unique_ptr<unsigned char, decltype(&PQfreemem)> bytes(PQunescapeBytea(digits, &size),
                                                                   PQfreemem);
  if (!bytes) throw std::bad_alloc();
  return {bytes.get(), bytes.get() + size};
}

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
    : Connection(shown_place(url)), mode_(mode) {
  // What the URL says itself comes last, and counts.
  const std::array<const char*, 6> names = {"connect_timeout", "application_name",
                                            "client_encoding", "keepalives_idle",
                                            "dbname",          nullptr};
  const std::array<const char*, 6> values = {"10", "llmb-report", "UTF8",
                                             "30", url.c_str(),   nullptr};
  handle_ = PQconnectdbParams(names.data(), values.data(), 1);
  try {
    if (is_broken()) fail(nullptr, "reach it");
    renew();
  } catch (...) {
    PQfinish(handle_);
    throw;
  }
}

PostgresqlConnection::~PostgresqlConnection() {
  drop_kept();
  PQfinish(handle_);
}

bool PostgresqlConnection::is_broken() const {
  return PQstatus(handle_) != CONNECTION_OK;
}

// What every session begins with; a connection that broke is made first.
void PostgresqlConnection::renew() {
  if (is_broken()) {
    PQreset(handle_);
    if (is_broken()) fail(nullptr, "reach it again");
    ++session_;
  }
  state_ = Session::new_one;
  // Notices ("relation exists") are nobody's to read here.
  PQsetNoticeProcessor(
      handle_, [](void*, const char*) {}, nullptr);
  const char* const begin =
      mode_ == Mode::read_only ? "SET default_transaction_read_only = on" : kBeginWriting;
  const PostgresqlResult set(PQexec(handle_, begin));
  if (has_failed(set.get())) fail(set.get(), "begin a session");
  if (react_) {
    state_ = Session::begins;
    try {
      react_();
    } catch (...) {
      state_ = Session::new_one;
      throw;
    }
  }
  state_ = Session::stands;
}

void PostgresqlConnection::ensure() {
  if (state_ == Session::begins) return;
  // Notices where the server has ended the session: the end stands behind a last word.
  for (int i = 0; i < 2; ++i) PQconsumeInput(handle_);
  if (is_broken() || state_ == Session::new_one) renew();
}

PostgresqlResult PostgresqlConnection::answer_to(const Send& send, std::string_view doing) {
  const bool may_send_again = !is_in_transaction() && state_ != Session::begins;
  if (may_send_again) ensure();
  PostgresqlResult result(send(handle_));
  if (has_failed(result.get()) && is_broken() && may_send_again) {
    renew();
    result = PostgresqlResult(send(handle_));
  }
  if (has_failed(result.get())) fail(result.get(), doing);
  return result;
}

void PostgresqlConnection::fail(pg_result* result, std::string_view doing) const {
  const char* const state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const Kind kind = state == nullptr ? Kind::io : kind_of(state);
  const char* const said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
  throw StorageError(kind,
                     fmt::format("cannot {} (database {}): {}. {}", doing, place(),
                                 first_line(said ? said : PQerrorMessage(handle_)), advice(kind)));
}

// The first of those that have come.
std::optional<std::string> PostgresqlConnection::take_notice() {
  const auto next = [this]() -> std::optional<std::string> {
    const std::unique_ptr<PGnotify, decltype(&PQfreemem)> notice{PQnotifies(handle_), PQfreemem};
    return notice ? std::optional<std::string>(notice->extra) : std::nullopt;
  };
  if (auto notice = next()) return notice;
  if (PQconsumeInput(handle_) == 0 || is_broken()) fail(nullptr, "listen for changes");
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
    std::array<pollfd, 2> waited = {pollfd{PQsocket(handle_), POLLIN, 0}, pollfd{wake, POLLIN, 0}};
    const auto left_ms = static_cast<int>(std::min<std::int64_t>(left.count(), kPollMsMax));
    if (poll(waited.data(), waited.size(), left_ms) < 0 && errno != EINTR) {
      fail(nullptr, "wait for changes");
    }
    if (waited[1].revents != 0) return std::nullopt;
  }
}

const SqlDialect& PostgresqlConnection::dialect() const {
  return postgresql_dialect();
}

std::unique_ptr<EngineStatement> PostgresqlConnection::prepare(std::string_view sql, bool is_kept) {
  std::string name = is_kept ? fmt::format("kept_{}", ++statements_made_) : std::string();
  return std::make_unique<PostgresqlStatement>(*this, sql, std::move(name));
}

void PostgresqlConnection::release_locks() noexcept {
  if (is_broken() || is_in_transaction()) return;
  PQclear(PQexec(handle_, "SELECT pg_advisory_unlock_all()"));
}

void PostgresqlConnection::execute(const std::string& sql) {
  answer_to([&](PGconn* server) { return PQexec(server, sql.c_str()); },
            "execute \"" + sql.substr(0, 60) + "\"");
}

std::unique_ptr<RowSink> PostgresqlConnection::row_sink(std::string_view table,
                                                        std::string_view columns) {
  return std::make_unique<PostgresqlRowSink>(*this, table, columns);
}

void PostgresqlConnection::begin_copy(const std::string& sql, std::string_view doing) {
  const PostgresqlResult result(PQexec(handle_, sql.c_str()));
  if (PQresultStatus(result.get()) != PGRES_COPY_IN) fail(result.get(), doing);
}

void PostgresqlConnection::put_copied(std::string_view lines, std::string_view doing) {
  if (lines.empty()) return;
  if (PQputCopyData(handle_, lines.data(), static_cast<int>(lines.size())) != 1) {
    fail(nullptr, doing);
  }
}

void PostgresqlConnection::end_copy(std::string_view doing) {
  const bool is_sent = PQputCopyEnd(handle_, nullptr) == 1;
  if (!is_sent) fail(nullptr, doing);
  const PostgresqlResult result(PQgetResult(handle_));
  while (pg_result* const rest = PQgetResult(handle_)) PQclear(rest);
  if (has_failed(result.get())) fail(result.get(), doing);
}

void PostgresqlConnection::abandon_copy() noexcept {
  PQputCopyEnd(handle_, "given up");
  while (pg_result* const result = PQgetResult(handle_)) {
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
  const PostgresqlResult result =
      answer_to([](PGconn* server) { return PQexec(server, "COMMIT"); }, "commit");
  if (std::string_view(PQcmdStatus(result.get())) != "COMMIT") {
    throw StorageError(Kind::io, fmt::format("cannot commit (database {}): an earlier statement "
                                             "of the transaction failed. Nothing was written.",
                                             place()));
  }
}

bool PostgresqlConnection::is_in_transaction() const {
  const PGTransactionStatusType status = PQtransactionStatus(handle_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

void PostgresqlConnection::roll_back() noexcept {
  PQclear(PQexec(handle_, "ROLLBACK"));
}

}  // namespace llmb::storage
