// A connection to a PostgreSQL database. Values travel as text, which holds every double and
// integer exactly. A SELECT's rows are fetched at once, so a question has to bound them. What a
// transaction writes by kept statements is sent without awaiting each (postgresql_pipeline.h).
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
#include <utility>

#include "storage/connection.h"
#include "storage/postgresql_session.h"

namespace llmb::storage {

class PostgresqlConnection : public Connection {
 public:
  using Mode = PostgresqlSession::Mode;

  // Throws StorageError where the server does not answer within ten seconds, or refuses.
  PostgresqlConnection(const std::string& url, Mode mode);
  ~PostgresqlConnection() override;

  const SqlDialect& dialect() const override;
  std::unique_ptr<EngineStatement> prepare(std::string_view sql, bool is_kept) override;
  void execute(const std::string& sql) override;
  std::int64_t changes() override { return session_.changes(); }
  std::unique_ptr<RowSink> row_sink(std::string_view table, std::string_view columns) override;
  void begin(TransactionKind kind) override;
  void commit() override;
  bool is_in_transaction() const override { return session_.is_in_transaction(); }
  void roll_back() noexcept override { session_.roll_back(); }

  // Runs after each time that the connection was made anew, before anything else is asked. What it
  // throws comes out of whatever made it so, and it runs again before the next question.
  void on_new_session(std::function<void()> react) { session_.on_new(std::move(react)); }
  // Makes the connection anew if it is known to be broken. Outside a transaction.
  void ensure() { session_.ensure(); }
  // Gives back the session's advisory locks before it ends: the server itself notices an end a
  // moment later, and whoever asks meanwhile would be refused. Does nothing where it is broken.
  void release_locks() noexcept;
  // Rises each time that the connection was made anew.
  std::uint64_t session() const { return session_.number(); }
  // What came next by NOTIFY of a channel that is listened to, as soon as something comes; nothing
  // where `timeout` passes before, or `wake`, a descriptor, can be read. Throws StorageError where
  // the connection broke: it is not made anew, for something may have been missed.
  std::optional<std::string> wait_for_notice(std::chrono::milliseconds timeout, int wake);

 private:
  friend class PostgresqlRowSink;

  // Of one COPY … FROM STDIN after the other, with no other statement meanwhile.
  void begin_copy(const std::string& sql, std::string_view doing);
  void put_copied(std::string_view lines, std::string_view doing);
  void end_copy(std::string_view doing);
  void abandon_copy() noexcept;
  std::optional<std::string> take_notice();

  PostgresqlSession session_;
  std::uint64_t statements_made_ = 0;
};

}  // namespace llmb::storage
