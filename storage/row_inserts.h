// RowInserts: many rows of one table by few statements, which costs a third less than a statement a
// row. Within a transaction of the caller's.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "storage/connection.h"

namespace llmb::storage {

// "INSERT INTO step_sample" for one row and for several; made once a table.
class RowInsertSql {
 public:
  RowInsertSql(std::string_view insert, std::size_t column_count);

  struct Statement {
    std::size_t row_count;
    std::string sql;
  };
  // With the most rows first; the last one is for a single row.
  const std::array<Statement, 3>& statements() const { return statements_; }

 private:
  std::array<Statement, 3> statements_;
};

class RowInserts {
 public:
  // Exactly `row_count` rows follow. Both references outlive it.
  RowInserts(Connection& connection, const RowInsertSql& sql, std::size_t row_count)
      : connection_(connection), sql_(sql), rows_left_(row_count) {}

  // To bind the values of the next row to, each of its columns. What is bound as borrowed has to
  // stand until finish_row() of the last row.
  Statement& row();
  void finish_row();

 private:
  Connection& connection_;
  const RowInsertSql& sql_;
  std::size_t rows_left_;
  Statement* statement_ = nullptr;
  std::size_t statement_rows_left_ = 0;
};

}  // namespace llmb::storage
