#include "storage/run_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "parser/dialects/failure_class.h"
#include "parser/dialects/failure_node.h"
#include "storage/copied_runs.h"
#include "storage/listed_marks.h"
#include "storage/run_filter_terms.h"
#include "storage/run_rows.h"
#include "storage/tree_clusters.h"

namespace llmb::storage {
namespace {

// When the newest of a group began, and its id: instants have no blank in them. So many are added
// that all ids have as many digits, for they are compared as text.
constexpr std::int64_t kAddedToIds = 1'000'000'000'000'000'000;
std::string newest_column() {
  return fmt::format("max({} || ' ' || ({} + id))", kBegan, kAddedToIds);
}

// The parameter behind all others is the list of those that are left out.
void leave_out_copies(Where& where, const SqlDialect& dialect, const std::vector<RunId>& copies) {
  if (copies.empty()) return;
  where.add(fmt::format("NOT (id{})", dialect.is_in_long_list), dialect.list_text(copies));
}

// One scan of run_filter makes the answer: a further one, for the days alone, would take as long.
Question ended_question(const SqlDialect& dialect, const RunFilter& filter,
                        const std::vector<RunId>& copies) {
  Where where = where_of_all(dialect, filter);
  where.add(kHasEnded);
  leave_out_copies(where, dialect, copies);
  // Else SQLite takes the index of one of them, and reads every row for the others. The day tells
  // most runs apart, so it is compared first.
  std::string groups;
  for (const char* column : {"status", "failure_cause", "root_id", "cluster"}) {
    groups += fmt::format(", {}{}", dialect.without_index, column);
  }
  const std::string all_steps = fmt::format("(marks & {})", kAllStepsRunBit);
  std::string sql = fmt::format(
      "SELECT status, failure_cause, root_id, cluster, substr({}, 1, 10), {}, count(*), {} FROM"
      " run{} GROUP BY 5{}, {}",
      kBegan, all_steps, newest_column(), where.sql(), groups, all_steps);
  return {std::move(sql), std::move(where)};
}

// With the other failures, of which some tell where it was, or that it counts no more.
Question lines_question(const SqlDialect& dialect, const RunFilter& filter,
                        const std::vector<RunId>& copies) {
  Where where = where_of_all(dialect, filter);
  where.add(std::string(dialect.without_index) + "failure_cause <> ''");
  leave_out_copies(where, dialect, copies);
  std::string sql = fmt::format(
      "SELECT of_run.id, began, failure_cause, cause, line, rank FROM (SELECT id, failure_cause, {}"
      " AS began FROM run{} ORDER BY {}id DESC LIMIT {}) AS of_run"
      " JOIN run_event ON run_id = of_run.id AND kind = 'failure' ORDER BY of_run.id, position",
      kBegan, where.sql(), dialect.without_index, kFailedRunsReadMax);
  return {std::move(sql), std::move(where)};
}

CountedRuns read_counted(Statement& select) {
  CountedRuns counted;
  counted.runs = select.read_integer();
  const std::string newest = select.read_text();
  const std::size_t blank = newest.rfind(' ');
  if (blank == std::string::npos) return counted;
  std::from_chars(newest.data() + blank + 1, newest.data() + newest.size(), counted.newest_run);
  counted.newest_run -= kAddedToIds;
  counted.newest_began_at = newest.substr(0, blank);
  return counted;
}

std::vector<EndedRuns> read_ended(Connection& connection, const RunFilter& filter,
                                  const std::vector<RunId>& copies) {
  const Question question = ended_question(connection.dialect(), filter, copies);
  Statement select(connection, question.sql);
  question.where.bind(select);
  std::vector<EndedRuns> all;
  while (select.step()) {
    EndedRuns ended;
    ended.status = read_status(select);
    ended.cause = select.read_text();
    ended.root_id = select.read_integer();
    ended.cluster = select.read_optional_text();
    ended.day = select.read_text();
    ended.have_run_all_steps = select.read_integer() != 0;
    ended.counted = read_counted(select);
    all.push_back(std::move(ended));
  }
  return all;
}

// The first of this cause in the newest attempt that has one: what an earlier attempt failed by was
// overcome, and what comes behind the first followed from it. Null: there is none.
const parser::LogEvent* ending_event(std::string_view cause,
                                     const std::vector<parser::LogEvent>& events) {
  const parser::LogEvent* ending = nullptr;
  bool is_first_of_attempt = true;
  for (const parser::LogEvent& event : events) {
    if (parser::begins_anew(event.cause)) {
      is_first_of_attempt = true;
    } else if (event.cause == cause && std::exchange(is_first_of_attempt, false)) {
      ending = &event;
    }
  }
  return ending;
}

std::vector<FailureLine> read_failure_lines(Connection& connection, const RunFilter& filter,
                                            const std::vector<RunId>& copies) {
  const Question question = lines_question(connection.dialect(), filter, copies);
  Statement select(connection, question.sql);
  question.where.bind(select);
  std::vector<FailureLine> lines;
  FailureLine run;
  std::vector<parser::LogEvent> events;  // in the order of the log
  const auto end_run = [&] {
    if (const parser::LogEvent* const ending = ending_event(run.cause, events)) {
      run.line = ending->line;
      run.node = parser::node_of_failure(*ending, events);
      lines.push_back(std::move(run));
    }
    events.clear();
  };
  while (select.step()) {
    const RunId id = select.read_integer();
    std::string began_at = select.read_text();
    std::string cause = select.read_text();
    if (id != run.run) {
      end_run();
      run = {id, std::move(began_at), std::move(cause), {}, {}};
    }
    parser::LogEvent event;
    event.cause = select.read_text();
    event.line = select.read_text();
    event.rank = select.read_optional_integer();
    events.push_back(std::move(event));
  }
  end_run();
  return lines;
}

}  // namespace

void CountedRuns::add(const CountedRuns& others) {
  runs += others.runs;
  if (std::tie(newest_began_at, newest_run) >=
      std::tie(others.newest_began_at, others.newest_run)) {
    return;
  }
  newest_run = others.newest_run;
  newest_began_at = others.newest_began_at;
}

FailureCounts count_failures(Connection& connection, const RunFilter& filter) {
  FailureCounts counts;
  const std::vector<RunId> copies = find_copied_runs(connection, filter);
  counts.ended = read_ended(connection, filter, copies);
  counts.lines = read_failure_lines(connection, filter, copies);
  std::int64_t failed = 0;
  for (const EndedRuns& ended : counts.ended)
    failed += ended.cause.empty() ? 0 : ended.counted.runs;
  counts.lines_are_of_all = failed <= kFailedRunsReadMax;
  counts.trees = read_tree_clusters(connection);
  return counts;
}

std::vector<std::string> failures_sql(const SqlDialect& dialect, const RunFilter& filter) {
  const std::vector<RunId> copies = {1};
  return {ended_question(dialect, filter, copies).sql, lines_question(dialect, filter, copies).sql};
}

}  // namespace llmb::storage
