// SQL on a database, beside the program that has it open.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdio>
#include <string>

#include "storage/database_place.h"
#include "storage/page_checksums.h"

namespace llmb::storage {

// At a PostgreSQL server, by its own program.
inline void execute_sql_at_server(const std::string& url, const std::string& sql) {
  FILE* const psql = popen(
      ("psql --no-psqlrc --quiet --output=/dev/null --set=ON_ERROR_STOP=1 '" + url + "'").c_str(),
      "w");
  ASSERT_NE(psql, nullptr);
  std::fputs((sql + ";\n").c_str(), psql);
  EXPECT_EQ(pclose(psql), 0) << sql;
}

inline void execute_sql(const std::string& path, const std::string& sql) {
  if (is_postgresql(path)) return execute_sql_at_server(path, sql);
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
