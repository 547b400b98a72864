// The rows of any table as values, whichever engine holds them: read page by page in the order of
// their key, so that memory stays bounded, and written.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "storage/row_inserts.h"
#include "storage/table_layout.h"

namespace llmb::storage {

struct StoredBytes {
  std::string bytes;
  auto operator<=>(const StoredBytes&) const = default;
};

// Nothing, for NULL; else as the column's kind says.
using StoredValue = std::variant<std::monostate, std::int64_t, double, std::string, StoredBytes>;
using StoredRow = std::vector<StoredValue>;  // of all columns of a layout, in its order

// From first to last, both included.
struct IdRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

class RowPages {
 public:
  static constexpr std::size_t kRowsMax = 512;
  // Of a table with a column of bytes, which may be some hundred KiB.
  static constexpr std::size_t kRowsWithBytesMax = 16;

  // Of the whole table, or of the rows whose key begins with one of these numbers. Connection and
  // layout outlive it.
  RowPages(Connection& connection, const TableLayout& layout, std::optional<IdRange> range = {});

  // None: there are no more. They stand until the next call.
  const std::vector<StoredRow>& next();

 private:
  std::string sql_of_next() const;

  Connection& connection_;
  const TableLayout& layout_;
  std::optional<IdRange> range_;
  std::size_t rows_max_;
  bool is_begun_ = false;
  bool is_ended_ = false;
  std::vector<StoredRow> rows_;
};

// Of several calls for one table, each by its text.
RowInsertSql insert_sql_of(const TableLayout& layout);

// All inside a transaction of the caller's. The first for rows of which none is there; the second
// replaces those that are.
void insert_rows(Connection& connection, const RowInsertSql& sql,
                 const std::vector<StoredRow>& rows);
void put_rows(Connection& connection, const TableLayout& layout,
              const std::vector<StoredRow>& rows);

// Many rows of one table, of which none is there, as the engine takes them quickest. Until
// finish() no other statement is run; without it they are not written.
class RowWriter {
 public:
  // All three outlive it; `sql` is the table's insert_sql_of().
  RowWriter(Connection& connection, const TableLayout& layout, const RowInsertSql& sql);
  void write(const std::vector<StoredRow>& rows);
  void finish();

 private:
  Connection& connection_;
  const RowInsertSql& sql_;
  std::unique_ptr<RowSink> sink_;  // none: by statements
};

}  // namespace llmb::storage
