#include "storage/table_layout.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace llmb::storage {
namespace {

[[noreturn]] void refuse(const Connection& connection, std::string_view table,
                         const std::string& why) {
  throw StorageError(StorageError::Kind::corrupt,
                     fmt::format("cannot read the table {} of {}: {}. Another program has changed "
                                 "it; put back a backup.",
                                 table, connection.place(), why));
}

// As SQLite and as PostgreSQL call them.
std::optional<ValueKind> kind_of(std::string_view type) {
  if (type == "INTEGER" || type == "bigint") return ValueKind::integer;
  if (type == "REAL" || type == "double precision") return ValueKind::real;
  if (type == "TEXT" || type == "text") return ValueKind::text;
  if (type == "BLOB" || type == "bytea") return ValueKind::bytes;
  return std::nullopt;
}

}  // namespace

std::string TableLayout::column_list(std::size_t count) const {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    list.append(i == 0 ? "" : ", ").append(columns[i].name);
  }
  return list;
}

std::vector<std::string> table_names(Connection& connection) {
  Statement select(connection, connection.dialect().table_list);
  std::vector<std::string> names;
  while (select.step()) names.push_back(select.read_text());
  return names;
}

TableLayout read_layout(Connection& connection, std::string_view table) {
  TableLayout layout;
  layout.table = table;
  Statement select(connection, connection.dialect().column_list);
  select.text(table);
  while (select.step()) {
    std::string name = select.read_text();
    const std::string type = select.read_text();
    const auto kind = kind_of(type);
    if (!kind) refuse(connection, table, fmt::format("its column {} is of type {}", name, type));
    if (select.read_integer() > 0) ++layout.key_columns;
    layout.columns.push_back({std::move(name), *kind});
  }
  if (layout.key_columns == 0) refuse(connection, table, "it is not there, or has no primary key");
  return layout;
}

}  // namespace llmb::storage
