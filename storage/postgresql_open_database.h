// PostgresqlDatabase: an open database of a PostgreSQL server, as those who read it, and those who
// write jobs and tokens beside its writers, have it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "storage/database_engine.h"
#include "storage/postgresql_connection.h"

namespace llmb::storage {

// The name under which the changes of a database, or of one schema of it, are announced; one of
// that form needs no quotes.
inline constexpr const char* kChannelSql = "'llmb_' || md5(current_schema())";

class PostgresqlDatabase : public OpenDatabase {
 public:
  PostgresqlDatabase(const std::string& url, PostgresqlConnection::Mode mode)
      : connection_(url, mode) {}
  PostgresqlConnection& connection() override { return connection_; }
  void check() override { connection_.ensure(); }
  bool leads(const std::string& task) override;
  void announce_job(JobRowId job) override { announce_text(job_announcement_text(job)); }
  std::int64_t agents_mark() override;
  DatabaseBytes bytes() override;

 protected:
  // In a transaction: the server sends it when that is committed, and to nobody where it is not.
  void announce_text(const std::string& text);
  // A lock of the session's, by name, within this schema. The server gives it up with the session,
  // however that ends. Taken again by who has it, it is one lock.
  bool try_lock(const std::string& name);
  // The revision in the mark of that name (writer_mark.h); nothing: there is none.
  std::optional<std::int64_t> stored_mark(const std::string& name);

 private:
  PostgresqlConnection connection_;
  std::map<std::string, std::uint64_t, std::less<>> led_in_session_;
};

}  // namespace llmb::storage
