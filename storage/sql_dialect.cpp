#include "storage/sql_dialect.h"

#include <fmt/format.h>

#include <vector>

#include "parser/foundation/text.h"

namespace llmb::storage {

std::string SqlDialect::list_text(std::span<const std::int64_t> numbers) const {
  return fmt::format("{}{}{}", list_begin, fmt::join(numbers, ","), list_end);
}

std::string put_row_sql(std::string_view table, std::size_t key_columns, std::string_view columns) {
  const std::vector<std::string_view> names = parser::split(columns, ',');
  std::string places;
  std::string key;
  std::string changes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = parser::trimmed(names[i]);
    places += i == 0 ? "?" : ", ?";
    if (i < key_columns) {
      key.append(key.empty() ? "" : ", ").append(name);
    } else {
      changes += fmt::format("{}{} = excluded.{}", changes.empty() ? "" : ", ", name, name);
    }
  }
  return fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}", table,
                     columns, places, key, changes);
}

}  // namespace llmb::storage
