// RunFilter -> terms of SQL: fixed text, and every value a bound parameter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

using SqlParameter = std::variant<std::int64_t, double, std::string>;

struct Where {
  std::vector<std::string> terms;  // of all of them
  std::vector<SqlParameter> parameters;

  void add(std::string term) { terms.push_back(std::move(term)); }
  void add(std::string term, SqlParameter parameter) {
    terms.push_back(std::move(term));
    parameters.push_back(std::move(parameter));
  }
  // The filter's time, each end by the column as it is to be written there.
  void add_times(const RunFilter& filter, const std::string& since_column,
                 const std::string& before_column);
  std::string sql() const;  // " WHERE … AND …", or nothing
  void bind(Statement& statement) const;
};

inline constexpr const char* kNoRun = "1 = 0";
// The column began_at, in words that run_filter covers: SQLite reads a generated column from the
// row.
inline constexpr const char* kBegan = "coalesce(launched_at, first_seen_at)";

// SqlDialect::without_index stands before each column but those for which `may_drive` is true. With
// several values a column drives only where `lists_may_drive`: along the order of its own index
// they would have to be sorted.
Where where_of(const SqlDialect& dialect, const RunFilter& filter,
               const std::function<bool(std::string_view)>& may_drive, bool lists_may_drive);

// Of all runs: by the one index with few runs to a value, else through run_filter, which covers
// all of them but the text.
Where where_of_all(const SqlDialect& dialect, const RunFilter& filter);

struct Question {
  std::string sql;
  Where where;
};

// The ids of the runs that match, in any order; the last parameter is their number, and no more is
// looked for.
Question gathering(const SqlDialect& dialect, const RunFilter& filter);

}  // namespace llmb::storage
