// PostgresqlResult: what libpq answered to one statement, released by its destructor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

struct pg_result;

namespace llmb::storage {

class PostgresqlResult {
 public:
  PostgresqlResult() = default;
  explicit PostgresqlResult(pg_result* handle) : handle_(handle, &clear) {}
  pg_result* get() const { return handle_.get(); }
  pg_result* release() { return handle_.release(); }
  explicit operator bool() const { return handle_ != nullptr; }
  // Also where there is none: the connection broke, or there was no memory.
  bool has_failed() const;

 private:
  static void clear(pg_result* handle);
  std::unique_ptr<pg_result, void (*)(pg_result*)> handle_{nullptr, &clear};
};

// Rows that a statement touched; nothing where it was no INSERT, UPDATE or DELETE.
std::optional<std::int64_t> changed_rows(pg_result* result);

}  // namespace llmb::storage
