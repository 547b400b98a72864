// Every value that a database holds of its runs, as text, found by the schema: so that a column or
// a table which comes later is there, too. For comparing two databases that mean the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "storage/sqlite_connection.h"

namespace llmb::storage {

struct StoredValues {
  std::vector<std::string> values;      // "run.status of a.out, generation 0, row 0 = 'failed'"
  std::set<std::string> empty_columns;  // "run.vanished_at": nowhere more than NULL, 0 and ''
};

// What each database counts or keeps for itself: its ids and revisions, how far it has read the
// files, who pushed what, the text that was sent along, and what is to go into its index of texts.
inline bool is_of_one_database(const std::string& table, const std::string& column) {
  static const std::set<std::string> tables = {"covered_log", "log_cursor", "log_text",
                                               "pushed_run",  "push_state", "run_text_change"};
  static const std::set<std::string> columns = {"run.id", "run.root_id", "run.revision"};
  return tables.contains(table) || columns.contains(table + "." + column) || column == "run_id";
}

inline std::vector<std::string> texts_of(Connection& connection, const std::string& sql) {
  Statement select(connection, sql);
  std::vector<std::string> texts;
  while (select.step()) texts.push_back(select.read_text());
  return texts;
}

inline void add_values(Connection& connection, const std::string& table, const std::string& run_id,
                       StoredValues& into) {
  std::vector<std::string> columns;
  std::string sql = "SELECT run.relative_path || ', generation ' || run.generation";
  for (const std::string& column :
       texts_of(connection, "SELECT name FROM pragma_table_info('" + table + "')")) {
    if (is_of_one_database(table, column)) continue;
    columns.push_back(table + "." + column);
    sql += ", quote(t.\"" + column + "\")";
    into.empty_columns.insert(columns.back());
  }
  sql += " FROM " + table + " AS t JOIN run ON run.id = t." + run_id + " ORDER BY ";
  for (std::size_t i = 1; i <= columns.size(); ++i) sql += std::to_string(i) + ", ";
  Statement rows(connection, sql + std::to_string(columns.size() + 1));
  for (int row = 0; rows.step(); ++row) {
    const std::string place = " of " + rows.read_text() + ", row " + std::to_string(row) + " = ";
    for (const std::string& column : columns) {
      const std::string value = rows.read_text();
      into.values.push_back(column + place + value);
      const bool is_empty = value == "NULL" || value == "0" || value == "0.0" || value == "''";
      if (!is_empty) into.empty_columns.erase(column);
    }
  }
}

inline StoredValues read_stored_values(const std::string& database_path) {
  SqliteConnection connection(database_path, SqliteConnection::Mode::read_only);
  StoredValues stored;
  add_values(connection, "run", "id", stored);
  for (const std::string& table :
       texts_of(connection,
                "SELECT t.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c"
                " WHERE t.type = 'table' AND c.name = 'run_id' ORDER BY t.name")) {
    if (!is_of_one_database(table, "")) add_values(connection, table, "run_id", stored);
  }
  std::sort(stored.values.begin(), stored.values.end());
  return stored;
}

// Names the first values that only one of them has.
inline void expect_same_values(const std::string& database_path, const std::string& other_path) {
  constexpr std::size_t kNamed = 10;
  const auto values = read_stored_values(database_path).values;
  const auto others = read_stored_values(other_path).values;
  EXPECT_FALSE(values.empty());
  for (const bool is_first : {true, false}) {
    const auto& these = is_first ? values : others;
    const auto& those = is_first ? others : values;
    std::vector<std::string> alone;
    std::set_difference(these.begin(), these.end(), those.begin(), those.end(),
                        std::back_inserter(alone));
    for (std::size_t i = 0; i < std::min(kNamed, alone.size()); ++i) {
      ADD_FAILURE() << "only in " << (is_first ? database_path : other_path) << ": " << alone[i];
    }
    EXPECT_LE(alone.size(), kNamed) << "values are in one of them only; these are the first";
  }
}

}  // namespace llmb::storage
