// A connection to a PostgreSQL database: the one place that calls libpq. Values travel as text,
// which holds every double and integer exactly. A SELECT's rows are fetched at once, so a question
// has to bound them.
//
// A connection that broke is made anew before the next transaction, or before the next statement
// where none is open; one that breaks inside a transaction ends it with an error, and nothing of it
// is kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/connection.h"

struct pg_conn;
struct pg_result;

namespace llmb::storage {

class PostgresqlResult {
 public:
  PostgresqlResult() = default;
  explicit PostgresqlResult(pg_result* handle) : handle_(handle, &clear) {}
  pg_result* get() const { return handle_.get(); }
  pg_result* release() { return handle_.release(); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  static void clear(pg_result* handle);
  std::unique_ptr<pg_result, void (*)(pg_result*)> handle_{nullptr, &clear};
};

class PostgresqlConnection : public Connection {
 public:
  enum class Mode { read_only, read_write };

  // Throws StorageError where the server does not answer within ten seconds, or refuses.
  PostgresqlConnection(const std::string& url, Mode mode);
  ~PostgresqlConnection() override;

  const SqlDialect& dialect() const override;
  std::unique_ptr<EngineStatement> prepare(std::string_view sql, bool is_kept) override;
  void execute(const std::string& sql) override;
  std::int64_t changes() const override { return changes_; }
  std::unique_ptr<RowSink> row_sink(std::string_view table, std::string_view columns) override;
  void begin(TransactionKind kind) override;
  void commit() override;
  bool is_in_transaction() const override;
  void roll_back() noexcept override;

  // Runs after each time that the connection was made anew, before anything else is asked. What it
  // throws comes out of whatever made it so, and it runs again before the next question.
  void on_new_session(std::function<void()> react) { react_ = std::move(react); }
  // Makes the connection anew if it is known to be broken. Outside a transaction.
  void ensure();
  // Gives back the session's advisory locks before it ends: the server itself notices an end a
  // moment later, and whoever asks meanwhile would be refused. Does nothing where it is broken.
  void release_locks() noexcept;
  // Rises each time that the connection was made anew.
  std::uint64_t session() const { return session_; }
  // What came next by NOTIFY of a channel that is listened to, as soon as something comes; nothing
  // where `timeout` passes before, or `wake`, a descriptor, can be read. Throws StorageError where
  // the connection broke: it is not made anew, for something may have been missed.
  std::optional<std::string> wait_for_notice(std::chrono::milliseconds timeout, int wake);

 private:
  friend class PostgresqlStatement;
  friend class PostgresqlRowSink;
  using Send = std::function<pg_result*(pg_conn*)>;

  // Sends, once more where the connection turns out to be broken and no transaction is open.
  // Throws StorageError, naming what was tried.
  PostgresqlResult answer_to(const Send& send, std::string_view doing);
  // Of one COPY … FROM STDIN after the other, with no other statement meanwhile.
  void begin_copy(const std::string& sql, std::string_view doing);
  void put_copied(std::string_view lines, std::string_view doing);
  void end_copy(std::string_view doing);
  void abandon_copy() noexcept;
  std::optional<std::string> take_notice();
  bool is_broken() const;
  void renew();
  [[noreturn]] void fail(pg_result* result, std::string_view doing) const;

  pg_conn* handle_ = nullptr;
  Mode mode_;
  std::function<void()> react_;
  std::uint64_t session_ = 1;  // statements that were prepared in an earlier one are gone
  enum class Session { new_one, begins, stands };
  Session state_ = Session::new_one;
  std::uint64_t statements_made_ = 0;
  std::int64_t changes_ = 0;
};

}  // namespace llmb::storage
