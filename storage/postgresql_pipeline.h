// PostgresqlPipeline: statements that were sent to a server one behind the other before anybody
// read what became of them, so that server and client work at once. All of one transaction, whose
// error comes out at its end.
//
// Each is followed by a sync, so that between two of them the server waits as it does between
// statements that are awaited: a session that stands still there is ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/postgresql_result.h"

struct pg_conn;

namespace llmb::storage {

class PostgresqlPipeline {
 public:
  // Hands one statement to libpq; 0: it could not be sent.
  using Send = std::function<int(pg_conn*)>;

  // What became of all.
  struct Outcome {
    PostgresqlResult last;   // of the last statement; of the first that failed, where one did
    const std::string* sql;  // its text
    std::optional<std::int64_t> changes;  // rows that the last INSERT, UPDATE or DELETE touched
  };

  // Statements were sent, and nobody has read what became of them.
  bool is_open() const { return !sent_.empty(); }
  std::size_t size() const { return sent_.size(); }
  // `sql` stands until end(). `prepared_in_session`: of what prepares a statement, set back to 0
  // where that failed. False: it could not be sent.
  bool send(pg_conn* server, const Send& send, const std::string& sql,
            std::uint64_t* prepared_in_session = nullptr);
  // Awaits all. Where the connection is broken, no longer than it takes to notice.
  Outcome end(pg_conn* server) noexcept;

 private:
  struct Sent {
    const std::string* sql;
    std::uint64_t* prepared_in_session;
  };
  std::vector<Sent> sent_;
};

}  // namespace llmb::storage
