// TableSum: what a table holds as two numbers, which are the same in both engines and in whatever
// order the rows lie.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/table_rows.h"

namespace llmb::storage {

struct TableSum {
  std::int64_t rows = 0;
  // The sum of the rows' hashes. It tells damage and mistakes; it does not resist an adversary.
  std::uint64_t checksum = 0;
  bool operator==(const TableSum&) const = default;

  // Values count by their bytes and bits; only -0.0 counts as 0.0, which SQLite makes of it.
  void add(const StoredRow& row);
};

// Of the whole table, or of the rows whose key begins with one of these numbers.
TableSum sum_of(Connection& connection, const TableLayout& layout,
                std::optional<IdRange> range = {});

}  // namespace llmb::storage
