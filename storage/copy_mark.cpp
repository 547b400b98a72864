#include "storage/copy_mark.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/table_layout.h"

namespace llmb::storage {
namespace {

constexpr std::string_view kTable = "copy_under_way";

}  // namespace

std::optional<CopyMark> read_copy_mark(Connection& connection) {
  const auto names = table_names(connection);
  if (std::find(names.begin(), names.end(), kTable) == names.end()) return std::nullopt;
  Statement select(connection, fmt::format("SELECT from_place, from_store_id FROM {}", kTable));
  CopyMark mark;
  if (select.step()) {
    mark.from_place = select.read_text();
    mark.from_store_id = select.read_text();
  }
  return mark;
}

void write_copy_mark(Connection& connection, const CopyMark& mark) {
  connection.execute(fmt::format(
      "CREATE TABLE {} (from_place TEXT NOT NULL, from_store_id TEXT NOT NULL)", kTable));
  Statement insert(connection, fmt::format("INSERT INTO {} VALUES (?, ?)", kTable));
  insert.text(mark.from_place).text(mark.from_store_id).run();
}

void remove_copy_mark(Connection& connection) {
  connection.execute(fmt::format("DROP TABLE {}", kTable));
}

void refuse_half_copied(Connection& connection) {
  const auto mark = read_copy_mark(connection);
  if (!mark) return;
  throw StorageError(
      StorageError::Kind::io,
      fmt::format("refused to open {0}: {1} is being copied into it, and that is not done. Go on "
                  "with `llmb-report copy-db {1} {0}`, or remove it.",
                  connection.place(), mark->from_place));
}

}  // namespace llmb::storage
