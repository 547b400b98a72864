// SQL on a database file, beside the program that has it open.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "storage/page_checksums.h"

namespace llmb::storage {

inline void execute_sql(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                            checked_file_system()),
            SQLITE_OK);
  char* message = nullptr;
  sqlite3_busy_timeout(connection, 5'000);
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message ? message : "");
  sqlite3_free(message);
  sqlite3_close(connection);
}

}  // namespace llmb::storage
