#include "storage/run_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/run_combinations.h"
#include "storage/run_filter_terms.h"
#include "storage/run_list.h"

namespace llmb::storage {
namespace {

struct NewestQuestion {
  std::string sql;
  Where where;
};

// The last parameter is the number of rows.
NewestQuestion newest_question(const SqlDialect& dialect, const RunFilter& filter, NewestWay way) {
  const bool is_walked = way == NewestWay::walked;
  Where where = is_walked ? where_of(
                                dialect, filter,
                                [](std::string_view column) { return column == "began_at"; }, false)
                          : where_of_all(dialect, filter);
  const std::string order = way == NewestWay::all
                                ? ""
                                : fmt::format(" ORDER BY {}began_at DESC, id DESC",
                                              is_walked ? "" : dialect.without_index);
  std::string sql =
      fmt::format("SELECT id, revision, grown_at FROM run{}{} LIMIT ?", where.sql(), order);
  return {std::move(sql), std::move(where)};
}

// A walk looks at runs that do not match until it has enough of those that do, expected to be
// spread evenly; sorting looks at all that match. Of those that are all asked for, no order need be
// made.
NewestWay way_of(std::int64_t matching, std::int64_t all, std::int64_t limit) {
  if (matching <= limit) return NewestWay::all;
  const double looked_at =
      static_cast<double>(all) * static_cast<double>(limit) / static_cast<double>(matching);
  return looked_at < static_cast<double>(matching) ? NewestWay::walked : NewestWay::sorted;
}

RunVersion read_version(Statement& select) {
  RunVersion version;
  version.id = select.read_integer();
  version.revision = select.read_integer();
  version.grown_at = select.read_text();
  return version;
}

// What a combination has newest stands first in its index, wherever that is among all runs.
// Nothing: run_tally does not hold what they are filtered by.
std::optional<std::vector<RunVersion>> newest_of_combinations(Connection& connection,
                                                              const RunFilter& filter,
                                                              std::int64_t limit) {
  auto combinations = RunCombinations::of(connection, filter);
  if (!combinations) return std::nullopt;
  RunQuery newest;
  newest.filter = filter;
  const SqlDialect& dialect = connection.dialect();
  Statement& select = connection.kept(
      fmt::format("SELECT id, revision, grown_at FROM run WHERE id{}", dialect.is_in_list));
  select.text(
      dialect.list_text(combinations->first_runs(newest, static_cast<std::size_t>(limit)).ids));
  std::vector<RunVersion> versions;
  while (select.step()) versions.push_back(read_version(select));
  return versions;
}

// All that match, or the newest of them in order.
std::vector<RunVersion> newest_by_one_statement(Connection& connection, const RunFilter& filter,
                                                std::int64_t limit, NewestWay way) {
  const NewestQuestion question = newest_question(connection.dialect(), filter, way);
  Statement select(connection, question.sql);
  question.where.bind(select);
  select.integer(limit);
  std::vector<RunVersion> versions;
  while (select.step()) versions.push_back(read_version(select));
  return versions;
}

}  // namespace

std::string newest_sql(const SqlDialect& dialect, const RunFilter& filter, NewestWay way) {
  return newest_question(dialect, filter, way).sql;
}

std::vector<RunVersion> newest_run_versions(Connection& connection, const RunFilter& filter,
                                            std::int64_t limit) {
  RunFilter every;
  every.include_superseded = true;
  const std::int64_t all = count_runs(connection, every);
  const std::int64_t matching = count_runs(connection, filter);
  const NewestWay way = way_of(matching, all, limit);
  std::optional<std::vector<RunVersion>> of_combinations;
  if (way != NewestWay::all && matching < all) {
    of_combinations = newest_of_combinations(connection, filter, limit);
  }
  std::vector<RunVersion> versions = of_combinations
                                         ? std::move(*of_combinations)
                                         : newest_by_one_statement(connection, filter, limit, way);
  std::ranges::sort(versions, {}, &RunVersion::id);
  return versions;
}

}  // namespace llmb::storage
