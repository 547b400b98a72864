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

namespace llmb::storage {
namespace {

// Of so many runs all are looked at; of more, by an index, those that have something in common.
constexpr std::int64_t kAllLookedAtMax = 2'000;

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

// The last parameter is how many, at most.
Question question_of(const SqlDialect& dialect, const RunFilter& filter, std::string_view which) {
  const auto may_not_drive = [](std::string_view) { return false; };
  Where where = which.empty() ? where_of_all(dialect, filter)
                              : where_of(dialect, filter, may_not_drive, false);
  where.add(kHasEnded);
  if (!which.empty()) where.add(std::string(which));
  std::string times;
  for (const char* const column : kTimes) times += fmt::format(", {}", column);
  std::string sql = fmt::format(
      "SELECT id, CASE WHEN status <> 'complete' OR marks <> 0 THEN 1 ELSE 0 END, size_bytes,"
      " step_time_s_count{}, {}, {}, (SELECT tail_hash FROM log_cursor WHERE run_id = run.id)"
      " FROM run{} LIMIT ?",
      times, log_head_sql("head_hash", "run"), log_head_sql("head_length", "run"), where.sql());
  return {std::move(sql), std::move(where)};
}

std::string log_of(Statement& select) {
  std::string log = fmt::format("{}", select.read_integer());
  const std::optional<std::int64_t> steps = select.read_optional_integer();
  log += fmt::format(" {}", steps.value_or(0));
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    const std::optional<double> value = select.read_optional_real();
    log += value ? fmt::format(" {}", *value) : " -";
  }
  const std::int64_t head_hash = select.read_optional_integer().value_or(0);
  const std::int64_t head_length = select.read_optional_integer().value_or(0);
  const std::optional<std::int64_t> tail_hash = select.read_optional_integer();
  const bool times_tell = steps.value_or(0) >= kStepsThatTell;
  if (head_hash == 0 || (!times_tell && !tail_hash)) return "";
  log += fmt::format(" {} {}", head_hash, head_length);
  if (!times_tell) log += fmt::format(" {}", *tail_hash);
  return log;
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
