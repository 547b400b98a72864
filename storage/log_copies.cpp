#include "storage/log_copies.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace llmb::storage {
namespace {

// Of runs with one mean step time, or of one job, so many are looked at, by id: thousands have it
// where somebody copied one log thousands of times, or made logs up, and a page of a list asks for
// each of its runs.
constexpr int kAlikeMax = 32;

constexpr std::array kAlikeColumns = {"size_bytes", "step_time_s_count",
                                      "step_time_s_stddev_sample", "step_time_s_min",
                                      "step_time_s_max"};

// That `other` looks as `run` does, of runs with one mean step time.
std::string looks_alike() {
  std::string alike;
  for (const char* const column : kAlikeColumns) {
    alike += fmt::format("other.{0} IS NOT DISTINCT FROM run.{0} AND ", column);
  }
  // A head whose hash is 0 is not known.
  return alike + fmt::format("nullif({}, 0) = {} AND {} = {}", log_head_sql("head_hash", "other"),
                             log_head_sql("head_hash", "run"), log_head_sql("head_length", "other"),
                             log_head_sql("head_length", "run"));
}

constexpr std::array kIdentityColumns = {"workload", "model_size", "dtype", "gpu_type",
                                         "gpu_count"};

// As parser::counting_order(), of those that may count: the run that says most of what it trained.
std::string that_counts_first() {
  std::string unstated;
  for (const char* const column : kIdentityColumns) {
    unstated += fmt::format("{}CASE WHEN other.{} IS NULL THEN 1 ELSE 0 END",
                            unstated.empty() ? "" : " + ", column);
  }
  return fmt::format("other.status <> 'complete' OR other.marks <> 0, {}, other.id", unstated);
}

// How those are found that may be copies of `run`, by an index: of a run without a step time those
// of its job.
constexpr std::string_view kOfOneMean = "near.step_time_s_mean = run.step_time_s_mean";
constexpr std::string_view kOfOneJob = "near.job_id = run.job_id AND near.step_time_s_mean IS NULL";

std::string original_sql(std::string_view nearness) {
  std::string columns;
  for (const char* const column : kAlikeColumns) columns += fmt::format("near.{}, ", column);
  for (const char* const column : kIdentityColumns) columns += fmt::format("near.{}, ", column);
  return fmt::format(
      "(SELECT other.id FROM (SELECT near.id, {}near.status, near.marks FROM run AS near WHERE {}"
      " AND near.is_superseded = 0 ORDER BY near.id LIMIT {}) AS other WHERE {} ORDER BY {} LIMIT "
      "1)",
      columns, nearness, kAlikeMax, looks_alike(), that_counts_first());
}

}  // namespace

std::string log_head_sql(std::string_view column, std::string_view run) {
  return fmt::format(
      "coalesce((SELECT {0} FROM log_cursor WHERE run_id = {1}.id),"
      " (SELECT {0} FROM pushed_run WHERE run_id = {1}.id))",
      column, run);
}

std::string likely_copies_sql(const SqlDialect& dialect) {
  return fmt::format(
      "SELECT run.id, CASE WHEN run.step_time_s_mean IS NULL THEN {} ELSE {} END"
      " FROM run WHERE run.id{} AND run.is_superseded = 0",
      original_sql(kOfOneJob), original_sql(kOfOneMean), dialect.is_in_list);
}

std::vector<LikelyCopy> find_likely_copies(Connection& connection, std::span<const RunId> ids) {
  if (ids.empty()) return {};
  const SqlDialect& dialect = connection.dialect();
  Statement& select = connection.kept(likely_copies_sql(dialect));
  select.text(dialect.list_text(ids));
  std::vector<LikelyCopy> copies;
  while (select.step()) {
    const RunId run = select.read_integer();
    const RunId original = select.read_optional_integer().value_or(run);
    if (original != run) copies.push_back({run, original});
  }
  return copies;
}

namespace {

std::string near_sql(std::string_view nearness) {
  return fmt::format(
      "SELECT id FROM (SELECT near.id FROM run JOIN run AS near ON {} WHERE run.id = ?"
      " AND near.is_superseded = 0 ORDER BY near.id LIMIT {}) AS these",
      nearness, kAlikeMax);
}

std::string alike_sql() {
  const std::string of_one_mean = near_sql(kOfOneMean);
  const std::string untimed = fmt::format("run.step_time_s_mean IS NULL AND {}", kOfOneJob);
  const std::string of_one_job = near_sql(untimed);
  return fmt::format(
      "SELECT other.id FROM run AS other WHERE other.id IN ({} UNION ALL {})"
      " AND EXISTS (SELECT 1 FROM run WHERE run.id = ? AND run.is_superseded = 0 AND {})"
      " ORDER BY {}",
      of_one_mean, of_one_job, looks_alike(), that_counts_first());
}

}  // namespace

std::vector<RunId> find_runs_that_look_like(Connection& connection, RunId id) {
  static const std::string sql = alike_sql();
  Statement& select = connection.kept(sql);
  select.integer(id).integer(id).integer(id);
  std::vector<RunId> alike;
  while (select.step()) alike.push_back(select.read_integer());
  return alike;
}

}  // namespace llmb::storage
