#include "storage/copied_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "storage/log_copies.h"
#include "storage/run_filter_terms.h"
#include "storage/tail_state.h"

namespace llmb::storage {
namespace {

// Of so many runs all are looked at; of more, by an index, those that have something in common.
constexpr std::int64_t kAllLookedAtMax = 2'000;

// So many of the runs that may be copies are looked at, with a step time and without one each.
constexpr std::int64_t kCopiesLookedForMax = 20'000;

constexpr std::array kTimes = {"step_time_s_mean", "step_time_s_stddev_sample", "step_time_s_min",
                               "step_time_s_max"};

// Those of one log have one mean step time or, without one, one job.
std::vector<std::string> may_be_copies(const SqlDialect& dialect) {
  const auto is_of_several = [](std::string_view column) {
    return fmt::format(
        "{0} IN (SELECT {0} FROM run WHERE {0} IS NOT NULL GROUP BY {0} HAVING count(*) > 1)",
        column);
  };
  return {is_of_several("step_time_s_mean"),
          fmt::format("{} AND {}step_time_s_mean IS NULL", is_of_several("job_id"),
                      dialect.without_index)};
}

struct EndedRun {
  RunId id = 0;
  bool counts_later = false;
  std::string log;  // the same of runs of one log; empty: it is not known well enough
};

// What the cursor holds of a log's bytes, where its step times are too few to tell.
std::string cursor_sql(std::string_view value) {
  return fmt::format(
      "CASE WHEN coalesce(step_time_s_count, 0) < {} THEN"
      " (SELECT {} FROM log_cursor WHERE run_id = run.id) END",
      kStepsThatTell, value);
}

// The last parameter is how many, at most.
Question question_of(const SqlDialect& dialect, const RunFilter& filter, std::string_view which) {
  const auto may_not_drive = [](std::string_view) { return false; };
  Where where = which.empty() ? where_of_all(dialect, filter)
                              : where_of(dialect, filter, may_not_drive, false);
  where.add(kHasEnded);
  if (!which.empty()) where.add(std::string(which));
  std::string columns;
  for (const char* const time : kTimes) columns += fmt::format(", {}", time);
  for (const char* const head : {"head_hash", "head_length"}) {
    columns += fmt::format(", {}", log_head_sql(head, "run"));
  }
  // Of a tail's state the numbers with which it begins, not the reader's state.
  for (const char* const value : {"tail_hash", "byte_offset", "substr(parser_state, 1, 64)"}) {
    columns += fmt::format(", {}", cursor_sql(value));
  }
  std::string sql = fmt::format(
      "SELECT id, CASE WHEN status <> 'complete' OR marks <> 0 THEN 1 ELSE 0 END, job_id,"
      " size_bytes, step_time_s_count{} FROM run{} LIMIT ?",
      columns, where.sql());
  return {std::move(sql), std::move(where)};
}

// As lists and comparisons compare two logs. Empty where what was read of it is not known.
std::string bytes_of(Statement& select) {
  const std::optional<std::int64_t> tail_hash = select.read_optional_integer();
  const std::optional<std::int64_t> offset = select.read_optional_integer();
  const auto state = decode_tail_state(select.read_optional_text().value_or(""));
  if (!tail_hash || !offset || !state) return "";
  return fmt::format(" {} {} {}", *tail_hash, *offset, state->content_hash);
}

// From the column of the job on.
std::string log_of(Statement& select) {
  const std::optional<std::int64_t> job = select.read_optional_integer();
  std::string log = fmt::format("{}", select.read_integer());
  const std::int64_t steps = select.read_optional_integer().value_or(0);
  log += fmt::format(" {}", steps);
  bool is_timed = false;
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    const std::optional<double> value = select.read_optional_real();
    log += value ? fmt::format(" {}", *value) : " -";
    is_timed = is_timed || value;
  }
  const std::int64_t head_hash = select.read_optional_integer().value_or(0);
  const std::int64_t head_length = select.read_optional_integer().value_or(0);
  log += fmt::format(" {} {}", head_hash, head_length);
  const std::string bytes = bytes_of(select);
  if (head_hash == 0) return "";
  if (steps >= kStepsThatTell) return log;
  // Many jobs that die before a step say the same short text.
  if (bytes.empty() || (!is_timed && !job)) return "";
  return log + bytes + (is_timed ? "" : fmt::format(" {}", *job));
}

std::vector<EndedRun> read_ended_runs(Connection& connection, const RunFilter& filter,
                                      std::string_view which, std::int64_t most) {
  const Question question = question_of(connection.dialect(), filter, which);
  Statement select(connection, question.sql);
  question.where.bind(select);
  select.integer(most);
  std::vector<EndedRun> runs;
  while (select.step()) {
    EndedRun run;
    run.id = select.read_integer();
    run.counts_later = select.read_integer() != 0;
    run.log = log_of(select);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<EndedRun> runs_that_may_be_copies(Connection& connection, const RunFilter& filter) {
  std::vector<EndedRun> runs = read_ended_runs(connection, filter, "", kAllLookedAtMax + 1);
  if (static_cast<std::int64_t>(runs.size()) <= kAllLookedAtMax) return runs;
  runs.clear();
  for (const std::string& which : may_be_copies(connection.dialect())) {
    auto some = read_ended_runs(connection, filter, which, kCopiesLookedForMax);
    std::move(some.begin(), some.end(), std::back_inserter(runs));
  }
  return runs;
}

}  // namespace

std::vector<RunId> find_copied_runs(Connection& connection, const RunFilter& filter) {
  std::vector<EndedRun> runs = runs_that_may_be_copies(connection, filter);
  std::sort(runs.begin(), runs.end(), [](const EndedRun& a, const EndedRun& b) {
    return std::tie(a.counts_later, a.id) < std::tie(b.counts_later, b.id);
  });
  std::unordered_map<std::string_view, RunId> first_of;
  std::vector<RunId> copies;
  for (const EndedRun& run : runs) {
    if (run.log.empty()) continue;
    const RunId first = first_of.try_emplace(run.log, run.id).first->second;
    if (first != run.id) copies.push_back(run.id);
  }
  std::sort(copies.begin(), copies.end());
  return copies;
}

std::vector<std::string> copied_runs_sql(const SqlDialect& dialect, const RunFilter& filter) {
  std::vector<std::string> all;
  for (const std::string& which : may_be_copies(dialect)) {
    all.push_back(question_of(dialect, filter, which).sql);
  }
  return all;
}

}  // namespace llmb::storage
