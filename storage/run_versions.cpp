#include "storage/run_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

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

// A walk looks at runs that do not match until it has enough of those that do; sorting looks at all
// that match. Of those that are all asked for, no order need be made.
NewestWay way_of(Connection& connection, const RunFilter& filter, std::int64_t limit) {
  const std::int64_t matching = count_runs(connection, filter);
  if (matching <= limit) return NewestWay::all;
  RunFilter every;
  every.include_superseded = true;
  const auto all = static_cast<double>(count_runs(connection, every));
  const double looked_at = all * static_cast<double>(limit) / static_cast<double>(matching);
  return looked_at < static_cast<double>(matching) ? NewestWay::walked : NewestWay::sorted;
}

}  // namespace

std::string newest_sql(const SqlDialect& dialect, const RunFilter& filter, NewestWay way) {
  return newest_question(dialect, filter, way).sql;
}

std::vector<RunVersion> newest_run_versions(Connection& connection, const RunFilter& filter,
                                            std::int64_t limit) {
  const NewestQuestion question =
      newest_question(connection.dialect(), filter, way_of(connection, filter, limit));
  Statement select(connection, question.sql);
  question.where.bind(select);
  select.integer(limit);
  std::vector<RunVersion> versions;
  while (select.step()) {
    RunVersion& version = versions.emplace_back();
    version.id = select.read_integer();
    version.revision = select.read_integer();
    version.grown_at = select.read_text();
  }
  std::ranges::sort(versions, {}, &RunVersion::id);
  return versions;
}

}  // namespace llmb::storage
