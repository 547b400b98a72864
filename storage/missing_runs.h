// Which runs of a database another one has as they are, which it has otherwise, and which it lacks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/records.h"
#include "storage/table_rows.h"

namespace llmb::storage {

// Runs that follow one another, and that one transaction takes.
struct MissingRuns {
  IdRange ids;
  std::int64_t runs = 0;
  std::int64_t steps = 0;
};

struct RunComparison {
  std::int64_t standing = 0;         // the same in both
  std::vector<RunId> stale;          // in `to`, and changed or gone in `from`
  std::vector<MissingRuns> missing;  // in `from`, and stale or not in `to`
};

// A table whose rows change beside their runs.
struct TableBeside {
  const TableLayout& layout;
  std::int64_t steps_a_row;  // as how many steps one of its rows counts in a transaction
};

// By whole rows of `run`, whose layout that is, and of the tables beside it.
RunComparison compare_runs(Connection& from, Connection& to, const TableLayout& run,
                           std::span<const TableBeside> beside);

}  // namespace llmb::storage
