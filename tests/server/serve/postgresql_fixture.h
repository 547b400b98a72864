// A database of a PostgreSQL server that tests/postgresql/with_server.sh has started for these
// tests, and what happens to such a server.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/server/serve/daemon_process.h"
#include "tests/storage/temporary_database.h"

namespace llmb::cli {

class PostgresqlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("LLMB_TEST_POSTGRESQL") == nullptr) {
      GTEST_SKIP() << "needs a PostgreSQL server, which tests/postgresql/with_server.sh gives it";
    }
    database_.emplace();
  }

  // What a database administrator does: every session ends in the middle of whatever it does.
  void end_all_sessions() const {
    storage::execute_sql_at_server(
        std::getenv("LLMB_TEST_POSTGRESQL"),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND application_name = 'llmb-report'");
  }

  std::optional<storage::TemporaryDatabase> database_;
  const TemporaryFolder folder_;
};

}  // namespace llmb::cli
