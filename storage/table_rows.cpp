#include "storage/table_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmb::storage {
namespace {

// To a Statement or a RowSink. Texts are borrowed: the row stands until the statement has run.
template <typename Taker>
void give_value(Taker& taker, const StoredValue& value) {
  if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    taker.integer(*integer);
  } else if (const auto* const real = std::get_if<double>(&value)) {
    taker.real(*real);
  } else if (const auto* const text = std::get_if<std::string>(&value)) {
    taker.borrowed_text(*text);
  } else if (const auto* const bytes = std::get_if<StoredBytes>(&value)) {
    taker.bytes(bytes->bytes);
  } else {
    taker.null();
  }
}

StoredValue read_value(Statement& row, ValueKind kind) {
  if (row.next_is_null()) {
    row.read_integer();
    return {};
  }
  switch (kind) {
    case ValueKind::integer:
      return row.read_integer();
    case ValueKind::real:
      return row.read_real();
    case ValueKind::text:
      return row.read_text();
    case ValueKind::bytes:
      return StoredBytes{row.read_bytes()};
  }
  return {};
}

std::size_t rows_max(const TableLayout& layout) {
  const bool has_bytes =
      std::any_of(layout.columns.begin(), layout.columns.end(),
                  [](const TableColumn& column) { return column.kind == ValueKind::bytes; });
  return has_bytes ? RowPages::kRowsWithBytesMax : RowPages::kRowsMax;
}

}  // namespace

RowPages::RowPages(Connection& connection, const TableLayout& layout, std::optional<IdRange> range)
    : connection_(connection), layout_(layout), range_(range), rows_max_(rows_max(layout)) {}

std::string RowPages::sql_of_next() const {
  const std::string key = layout_.column_list(layout_.key_columns);
  const std::string& first = layout_.columns.front().name;
  std::string where;
  if (is_begun_) {
    where = fmt::format(" WHERE ({}) > (", key);
    for (std::size_t i = 0; i < layout_.key_columns; ++i) where += i == 0 ? "?" : ", ?";
    where += ')';
  } else if (range_) {
    where = fmt::format(" WHERE {} >= ?", first);
  }
  if (range_) where += fmt::format(" AND {} <= ?", first);
  return fmt::format("SELECT {} FROM {}{} ORDER BY {} LIMIT {}", layout_.column_list(),
                     layout_.table, where, key, rows_max_);
}

const std::vector<StoredRow>& RowPages::next() {
  if (is_ended_) {
    rows_.clear();
    return rows_;
  }
  Statement& select = connection_.kept(sql_of_next());
  if (is_begun_) {
    for (std::size_t i = 0; i < layout_.key_columns; ++i) give_value(select, rows_.back()[i]);
  } else if (range_) {
    select.integer(range_->first);
  }
  if (range_) select.integer(range_->last);
  std::vector<StoredRow> rows;
  rows.reserve(rows_max_);
  while (select.step()) {
    StoredRow& row = rows.emplace_back();
    row.reserve(layout_.columns.size());
    for (const TableColumn& column : layout_.columns)
      row.push_back(read_value(select, column.kind));
  }
  rows_ = std::move(rows);
  is_begun_ = true;
  is_ended_ = rows_.size() < rows_max_;
  return rows_;
}

RowInsertSql insert_sql_of(const TableLayout& layout) {
  return {fmt::format("INSERT INTO {} ({})", layout.table, layout.column_list()),
          layout.columns.size()};
}

void insert_rows(Connection& connection, const RowInsertSql& sql,
                 const std::vector<StoredRow>& rows) {
  RowInserts inserts(connection, sql, rows.size());
  for (const StoredRow& row : rows) {
    Statement& insert = inserts.row();
    for (const StoredValue& value : row) give_value(insert, value);
    inserts.finish_row();
  }
}

RowWriter::RowWriter(Connection& connection, const TableLayout& layout, const RowInsertSql& sql)
    : connection_(connection),
      sql_(sql),
      sink_(connection.row_sink(layout.table, layout.column_list())) {}

void RowWriter::write(const std::vector<StoredRow>& rows) {
  if (!sink_) return insert_rows(connection_, sql_, rows);
  for (const StoredRow& row : rows) {
    for (const StoredValue& value : row) give_value(*sink_, value);
    sink_->end_row();
  }
}

void RowWriter::finish() {
  if (sink_) sink_->finish();
}

void put_rows(Connection& connection, const TableLayout& layout,
              const std::vector<StoredRow>& rows) {
  const std::string sql = put_row_sql(layout.table, layout.key_columns, layout.column_list());
  for (const StoredRow& row : rows) {
    Statement& put = connection.kept(sql);
    for (const StoredValue& value : row) give_value(put, value);
    put.run();
  }
}

}  // namespace llmb::storage
