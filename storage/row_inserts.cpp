#include "storage/row_inserts.h"

namespace llmb::storage {
namespace {

constexpr std::array<std::size_t, 3> kRowCounts = {25, 5, 1};

std::string values_of(std::size_t column_count, std::size_t row_count) {
  std::string values = " VALUES ";
  for (std::size_t row = 0; row < row_count; ++row) {
    for (std::size_t column = 0; column < column_count; ++column) {
      values += column > 0 ? ",?" : row > 0 ? ",(?" : "(?";
    }
    values += ')';
  }
  return values;
}

}  // namespace

RowInsertSql::RowInsertSql(std::string_view insert, std::size_t column_count) {
  for (std::size_t i = 0; i < kRowCounts.size(); ++i) {
    statements_[i] = {kRowCounts[i], std::string(insert) + values_of(column_count, kRowCounts[i])};
  }
}

Statement& RowInserts::row() {
  if (statement_ != nullptr) return *statement_;
  for (const RowInsertSql::Statement& one : sql_.statements()) {
    if (one.row_count > rows_left_) continue;
    statement_ = &connection_.kept(one.sql);
    statement_rows_left_ = one.row_count;
    break;
  }
  return *statement_;
}

void RowInserts::finish_row() {
  --rows_left_;
  if (--statement_rows_left_ > 0) return;
  statement_->run();
  statement_ = nullptr;
}

}  // namespace llmb::storage
