#include "storage/postgresql_statement.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <memory>
#include <new>
#include <utility>

#include "parser/foundation/parse_number.h"

namespace llmb::storage {
namespace {

// As libpq numbers how a value is written.
constexpr int kText = 0;
constexpr int kBinary = 1;

}  // namespace

void PostgresqlStatement::bind_integer(int parameter, std::int64_t value) {
  set(parameter, fmt::to_string(value), kText);
}

void PostgresqlStatement::bind_real(int parameter, double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  set(parameter, std::string(text.data(), end), kText);
}

void PostgresqlStatement::bind_text(int parameter, std::string_view value, bool /*is_borrowed*/) {
  set(parameter, postgresql_text(value), kText);
}

void PostgresqlStatement::bind_bytes(int parameter, std::string_view value) {
  set(parameter, std::string(value), kBinary);
}

void PostgresqlStatement::bind_null(int parameter) {
  set(parameter, std::nullopt, kText);
}

void PostgresqlStatement::set(int parameter, std::optional<std::string> bytes, int format) {
  const auto place = static_cast<std::size_t>(parameter);
  if (values_.size() <= place) values_.resize(place + 1);
  values_[place] = {std::move(bytes), format};
}

PostgresqlStatement::Parameters PostgresqlStatement::parameters() const {
  const auto count = static_cast<std::size_t>(sql_.parameters);
  Parameters bound{std::vector<const char*>(count, nullptr), std::vector<int>(count, 0),
                   std::vector<int>(count, kText)};
  for (std::size_t i = 0; i < count && i < values_.size(); ++i) {
    if (!values_[i].bytes) continue;
    bound.values[i] = values_[i].bytes->c_str();
    bound.lengths[i] = static_cast<int>(values_[i].bytes->size());
    bound.formats[i] = values_[i].format;
  }
  return bound;
}

PostgresqlResult PostgresqlStatement::ask() {
  if (session_.has_sent()) {
    send();
    return session_.settle();
  }
  const Parameters bound = parameters();
  const auto ask = [&](PGconn* server) -> PGresult* {
    if (name_.empty()) {
      return PQexecParams(server, sql_.sql.c_str(), sql_.parameters, nullptr, bound.values.data(),
                          bound.lengths.data(), bound.formats.data(), kText);
    }
    if (prepared_in_session_ != session_.number()) {
      PostgresqlResult prepared(
          PQprepare(server, name_.c_str(), sql_.sql.c_str(), sql_.parameters, nullptr));
      if (prepared.has_failed()) return prepared.release();
      prepared_in_session_ = session_.number();
    }
    return PQexecPrepared(server, name_.c_str(), sql_.parameters, bound.values.data(),
                          bound.lengths.data(), bound.formats.data(), kText);
  };
  return session_.answer_to(ask, sql_.sql);
}

// Without awaiting what becomes of it.
void PostgresqlStatement::send() {
  const Parameters bound = parameters();
  if (name_.empty()) {
    session_.send(
        [&](PGconn* server) {
          return PQsendQueryParams(server, sql_.sql.c_str(), sql_.parameters, nullptr,
                                   bound.values.data(), bound.lengths.data(), bound.formats.data(),
                                   kText);
        },
        sql_.sql);
    return;
  }
  if (prepared_in_session_ != session_.number()) {
    prepared_in_session_ = session_.number();
    session_.send(
        [&](PGconn* server) {
          return PQsendPrepare(server, name_.c_str(), sql_.sql.c_str(), sql_.parameters, nullptr);
        },
        sql_.sql, &prepared_in_session_);
  }
  session_.send(
      [&](PGconn* server) {
        return PQsendQueryPrepared(server, name_.c_str(), sql_.parameters, bound.values.data(),
                                   bound.lengths.data(), bound.formats.data(), kText);
      },
      sql_.sql);
}

void PostgresqlStatement::run() {
  // What is run once may be gone before anybody reads what became of it.
  if (rows_ || name_.empty() || !session_.may_send_ahead()) return EngineStatement::run();
  send();
  session_.bound_sent();
}

bool PostgresqlStatement::step() {
  if (!rows_) {
    rows_ = ask();
    row_ = -1;
  }
  if (++row_ < PQntuples(rows_.get())) return true;
  reset();
  return false;
}

void PostgresqlStatement::reset() {
  rows_ = PostgresqlResult();
  row_ = -1;
}

std::string_view PostgresqlStatement::raw(int column) const {
  return {PQgetvalue(rows_.get(), row_, column),
          static_cast<std::size_t>(PQgetlength(rows_.get(), row_, column))};
}

bool PostgresqlStatement::is_null(int column) const {
  return PQgetisnull(rows_.get(), row_, column) != 0;
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

std::string PostgresqlStatement::text(int column) const {
  return from_postgresql_text(raw(column));
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

}  // namespace llmb::storage
