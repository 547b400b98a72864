// TableLayout: the columns and the key of a table, as the database itself tells them, so that rows
// are copied and compared without anybody naming each column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.h"

namespace llmb::storage {

enum class ValueKind { integer, real, text, bytes };

struct TableColumn {
  std::string name;
  ValueKind kind = ValueKind::integer;
  bool operator==(const TableColumn&) const = default;
};

struct TableLayout {
  std::string table;
  // Those of the primary key first, in its order, the others by name; none that is computed. Both
  // engines give the same.
  std::vector<TableColumn> columns;
  std::size_t key_columns = 0;

  // "id, path, …": all of them, or the first `count`.
  std::string column_list() const { return column_list(columns.size()); }
  std::string column_list(std::size_t count) const;
};

std::vector<std::string> table_names(Connection& connection);
// Throws StorageError where there is no such table, it has no primary key, or a column has a type
// that the schema has nowhere else.
TableLayout read_layout(Connection& connection, std::string_view table);

}  // namespace llmb::storage
