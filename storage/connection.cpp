#include "storage/connection.h"

#include <cmath>

namespace llmb::storage {

Statement::Statement(Connection& connection, std::string_view sql, bool is_kept)
    : engine_(connection.prepare(sql, is_kept)) {}

Statement& Statement::integer(std::int64_t value) {
  engine_->bind_integer(next_parameter_++, value);
  return *this;
}

Statement& Statement::real(double value) {
  if (std::isnan(value)) return null();
  engine_->bind_real(next_parameter_++, value);
  return *this;
}

Statement& Statement::text(std::string_view value) {
  engine_->bind_text(next_parameter_++, value, false);
  return *this;
}

Statement& Statement::borrowed_text(std::string_view value) {
  engine_->bind_text(next_parameter_++, value, true);
  return *this;
}

Statement& Statement::bytes(std::string_view value) {
  engine_->bind_bytes(next_parameter_++, value);
  return *this;
}

Statement& Statement::null() {
  engine_->bind_null(next_parameter_++);
  return *this;
}

bool Statement::step() {
  next_parameter_ = 0;
  next_column_ = 0;
  return engine_->step();
}

void Statement::run() {
  next_parameter_ = 0;
  next_column_ = 0;
  engine_->run();
}

std::int64_t Statement::run_for_id() {
  const std::int64_t id = step() ? read_integer() : 0;
  while (step()) {
  }
  return id;
}

void Statement::reset() {
  engine_->reset();
  next_parameter_ = 0;
  next_column_ = 0;
}

std::optional<std::int64_t> Statement::read_optional_integer() {
  const bool is_null = next_is_null();
  const std::int64_t value = read_integer();
  return is_null ? std::nullopt : std::optional(value);
}

std::optional<double> Statement::read_optional_real() {
  const bool is_null = next_is_null();
  const double value = read_real();
  return is_null ? std::nullopt : std::optional(value);
}

std::optional<std::string> Statement::read_optional_text() {
  if (next_is_null()) {
    ++next_column_;
    return std::nullopt;
  }
  return read_text();
}

std::int64_t Connection::read_one_integer(std::string_view sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.read_integer() : 0;
}

Statement& Connection::kept(std::string_view sql) {
  auto found = kept_.find(sql);
  if (found == kept_.end()) {
    found = kept_.emplace(std::string(sql), std::make_unique<Statement>(*this, sql, true)).first;
  }
  found->second->reset();
  return *found->second;
}

Transaction::~Transaction() {
  // SQLite itself rolls back after some errors (a full disk); then there is nothing left to do.
  if (is_open_ && connection_.is_in_transaction()) connection_.roll_back();
}

void Transaction::commit() {
  connection_.commit();
  is_open_ = false;
}

}  // namespace llmb::storage
