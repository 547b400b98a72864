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
NewestQuestion newest_question(const SqlDialect& dialect, const RunFilter& filter, bool is_walked) {
  Where where = is_walked ? where_of(
                                dialect, filter,
                                [](std::string_view column) { return column == "began_at"; }, false)
                          : where_of_all(dialect, filter);
  std::string sql = fmt::format(
      "SELECT id, revision, grown_at FROM run{} ORDER BY {}began_at DESC, id DESC LIMIT ?",
      where.sql(), is_walked ? "" : dialect.without_index);
  return {std::move(sql), std::move(where)};
}

// A walk looks at runs that do not match until it has enough of those that do; sorting looks at all
// that match.
bool is_walk_shorter(Connection& connection, const RunFilter& filter, std::int64_t limit) {
  RunFilter every;
  every.include_superseded = true;
  const auto matching = static_cast<double>(count_runs(connection, filter));
  const auto all = static_cast<double>(count_runs(connection, every));
  return matching * matching > static_cast<double>(limit) * all;
}

}  // namespace

std::string newest_sql(const SqlDialect& dialect, const RunFilter& filter, bool is_walked) {
  return newest_question(dialect, filter, is_walked).sql;
}

std::vector<RunVersion> newest_run_versions(Connection& connection, const RunFilter& filter,
                                            std::int64_t limit) {
  const NewestQuestion question =
      newest_question(connection.dialect(), filter, is_walk_shorter(connection, filter, limit));
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
