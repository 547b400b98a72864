// PostgresqlSession: the session at a server that a PostgresqlConnection's statements are run in,
// one that is awaited or many behind each other. One that broke is made anew before the next
// statement that belongs to no transaction; one that breaks inside a transaction ends it with an
// error, and nothing of it is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/postgresql_pipeline.h"
#include "storage/postgresql_result.h"

struct pg_conn;
struct pg_result;

namespace llmb::storage {

class PostgresqlSession {
 public:
  enum class Mode { read_only, read_write };
  // Hands one statement to libpq, and awaits what becomes of it.
  using Ask = std::function<pg_result*(pg_conn*)>;

  // `place`: as messages name the database. Throws StorageError where the server does not answer
  // within ten seconds, or refuses.
  PostgresqlSession(const std::string& url, std::string place, Mode mode);
  ~PostgresqlSession();
  PostgresqlSession(const PostgresqlSession&) = delete;
  PostgresqlSession& operator=(const PostgresqlSession&) = delete;

  pg_conn* server() const { return server_; }
  bool is_broken() const;
  bool is_in_transaction() const;
  // Rises each time that the session was made anew: what was prepared in an earlier one is gone.
  std::uint64_t number() const { return number_; }
  // Runs after each time that it was made anew, before anything else is asked. What it throws comes
  // out of whatever made it so, and it runs again before the next question.
  void on_new(std::function<void()> react) { react_ = std::move(react); }
  // Makes the session anew if it is known to be broken. Outside a transaction.
  void ensure();

  // Asks, once more where the session turns out to be broken and no transaction is open. Throws
  // StorageError, naming what was tried: `sql`.
  PostgresqlResult answer_to(const Ask& ask, std::string_view sql);
  // Inside a transaction in which nothing has failed so far.
  bool may_send_ahead() const;
  // Statements were sent ahead, and nobody has read what became of them.
  bool has_sent() const { return pipeline_.is_open(); }
  // Without awaiting what becomes of it; as PostgresqlPipeline::send(). Throws StorageError where
  // it could not be sent.
  void send(const PostgresqlPipeline::Send& send, const std::string& sql,
            std::uint64_t* prepared_in_session = nullptr);
  // Awaits what was sent so, and returns the result of the last. Throws StorageError of the first
  // that failed.
  PostgresqlResult settle();
  // To be called after what was sent ahead: does that where many are on their way.
  void bound_sent();
  // What was sent ahead is awaited, and whatever became of it does not count.
  void roll_back() noexcept;
  // Rows that the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes();

  [[noreturn]] void fail(pg_result* result, std::string_view doing) const;

 private:
  void renew();

  pg_conn* server_ = nullptr;
  PostgresqlPipeline pipeline_;
  const std::string place_;
  Mode mode_;
  std::function<void()> react_;
  std::uint64_t number_ = 1;
  enum class State { new_one, begins, stands };
  State state_ = State::new_one;
  std::int64_t changes_ = 0;
};

}  // namespace llmb::storage
