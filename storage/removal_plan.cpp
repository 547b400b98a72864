#include "storage/removal_plan.h"

#include <map>
#include <utility>

namespace llmb::storage {
namespace {

constexpr std::int64_t kLogsAtOnce = 4'096;
// As many bytes of text take about as long to remove as a step.
constexpr std::uint64_t kTextBytesAStep = 40;

// Both take parameters as bind() binds them. The primary key leads through the runs: by another
// index each page would sort all that fit.
std::string filter_sql(const Connection& connection, const RetentionPolicy& policy) {
  const std::string plainly(connection.dialect().without_index);
  std::string sql = plainly + "newest.is_superseded = 0";
  if (policy.grown_before) sql += " AND " + plainly + "newest.grown_at < ?";
  if (policy.cluster) sql += " AND newest.cluster = ?";
  if (policy.root) {
    sql += " AND " + plainly + "newest.root_id IN (SELECT id FROM root WHERE path = ?)";
  }
  if (policy.only_gone) sql += " AND newest.vanished_at IS NOT NULL";
  if (policy.only_log_text) {
    sql +=
        " AND EXISTS (SELECT 1 FROM run AS told JOIN log_text AS t ON t.run_id = told.id"
        " WHERE told.root_id = newest.root_id AND told.relative_path = newest.relative_path"
        " AND t.byte_count > 0)";
  }
  return sql;
}

Statement& bind(Statement& statement, const RetentionPolicy& policy) {
  if (policy.grown_before) statement.text(*policy.grown_before);
  if (policy.cluster) statement.text(*policy.cluster);
  if (policy.root) statement.text(*policy.root);
  return statement;
}

constexpr std::string_view kIsActive = "newest.status = 'running' AND newest.grown_at >= ?";

std::string active_since(parser::Instant now) {
  return parser::instant_text(now - kActiveFor);
}

std::string page_sql(const Connection& connection, const RetentionPolicy& policy) {
  const std::string generations =
      " WHERE g.root_id = newest.root_id AND g.relative_path = newest.relative_path)";
  return "SELECT newest.id, coalesce(newest.cluster, ''), substr(newest.grown_at, 1, 4),"
         " CASE WHEN " +
         std::string(kIsActive) +
         " THEN 1 ELSE 0 END,"
         " (SELECT count(*) FROM run AS g" +
         generations + ", (SELECT CAST(sum(g.step_count) AS bigint) FROM run AS g" + generations +
         ", (SELECT CAST(coalesce(sum(length(t.packed)), 0) AS bigint) FROM run AS g"
         " JOIN log_text AS t ON t.run_id = g.id" +
         generations + " FROM run AS newest WHERE " + filter_sql(connection, policy) +
         " AND newest.id > ? ORDER BY newest.id LIMIT ?";
}

}  // namespace

RemovalPlan plan_removal(Connection& connection, const RetentionPolicy& policy,
                         parser::Instant now) {
  RemovalPlan plan;
  std::map<std::pair<std::string, std::string>, RemovalGroup> groups;
  const std::string sql = page_sql(connection, policy);
  RunId last = 0;
  for (std::int64_t on_page = kLogsAtOnce; on_page == kLogsAtOnce;) {
    Statement& page = connection.kept(sql);
    page.text(active_since(now));
    bind(page, policy).integer(last).integer(kLogsAtOnce);
    for (on_page = 0; page.step(); ++on_page) {
      last = page.read_integer();
      const std::string cluster = page.read_text();
      const std::string year = page.read_text();
      if (page.read_boolean()) {
        ++plan.still_active;
        continue;
      }
      RemovalCount of_log;
      of_log.runs = page.read_integer();
      const std::int64_t steps = page.read_integer();
      of_log.steps = policy.only_log_text ? 0 : steps;
      of_log.log_text_bytes = page.read_bits();
      groups[{cluster, year}].count += of_log;
      const auto text_weight = static_cast<std::int64_t>(of_log.log_text_bytes / kTextBytesAStep);
      plan.logs.push_back({last, text_weight + of_log.steps});
    }
  }
  for (auto& [key, group] : groups) {
    group.cluster = key.first;
    group.year = key.second;
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

std::optional<LogName> fitting_log(Connection& connection, const RetentionPolicy& policy,
                                   RunId newest, parser::Instant now) {
  Statement& find =
      connection.kept("SELECT newest.root_id, newest.relative_path FROM run AS newest WHERE " +
                      filter_sql(connection, policy) + " AND newest.id = ? AND NOT (" +
                      std::string(kIsActive) + ")");
  bind(find, policy).integer(newest).text(active_since(now));
  if (!find.step()) return std::nullopt;
  LogName log;
  log.root = find.read_integer();
  log.relative_path = find.read_text();
  find.reset();
  return log;
}

}  // namespace llmb::storage
