// What ends runs, as the report puts together what storage counted.
#include "server/report/failure_report.h"

#include <gmock/gmock.h>

#include <sstream>

#include "server/report/json.h"

namespace llmb::report {
namespace {

using parser::RunStatus;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

storage::EndedRuns ended(RunStatus status, const std::string& cause, const std::string& day,
                         std::int64_t runs, storage::RunId newest) {
  return {status, cause, 1, std::nullopt, day, {runs, newest, day + "T00:00:00Z"}, false};
}

storage::FailureCounts some_counts() {
  storage::FailureCounts counts;
  counts.ended = {ended(RunStatus::failed, "cuda_oom", "2026-01-05", 2, 11),
                  ended(RunStatus::incomplete, "cuda_oom", "2026-01-03", 1, 9),
                  ended(RunStatus::running, "hung", "2026-01-05", 1, 12),
                  ended(RunStatus::incomplete, "", "2026-01-03", 2, 8),
                  ended(RunStatus::complete, "", "2026-01-03", 4, 7)};
  counts.ended[0].cluster = "eos";
  counts.ended[4].root_id = 2;
  counts.trees.learn(1, std::optional<std::string>("eos"));
  return counts;
}

TEST(FailureReports, CountByCauseOverDaysTreesAndStatuses) {
  const FailureReport report = failure_report(some_counts());
  EXPECT_EQ(report.ended, 10);
  EXPECT_EQ(report.failed, 4);
  EXPECT_EQ(report.complete, 4);
  ASSERT_THAT(report.causes, SizeIs(2));
  EXPECT_EQ(report.causes[0].cause, "cuda_oom");
  EXPECT_EQ(report.causes[0].counted.runs, 3);
  EXPECT_EQ(report.causes[0].counted.newest_run, 11);
  EXPECT_EQ(report.causes[1].running, 1);
  ASSERT_THAT(report.unexplained, SizeIs(1));
  EXPECT_EQ(report.unexplained[0].status, RunStatus::incomplete);
  EXPECT_EQ(report.unexplained[0].counted().runs, 2);
}

// A launch for a trace or a profile does fewer steps than a window holds.
TEST(FailureReports, GiveRunsThatDidAllTheirStepsALineOfTheirOwn) {
  storage::FailureCounts counts = some_counts();
  counts.ended.push_back(ended(RunStatus::incomplete, "", "2026-01-04", 3, 13));
  counts.ended.back().have_run_all_steps = true;
  const FailureReport report = failure_report(counts);
  ASSERT_THAT(report.unexplained, SizeIs(1));
  const Json json = failures_json(report)["unexplained"][0];
  EXPECT_EQ(json["runs"], 5);
  EXPECT_EQ(json["all_steps_run"], 3);
  EXPECT_EQ(json["newest_run"], 13);
  std::ostringstream csv;
  write_failures_csv(report, csv);
  EXPECT_THAT(csv.str(), HasSubstr("\r\n,incomplete,5,"));
  EXPECT_THAT(csv.str(), HasSubstr("Z,3\r\n"));
  std::ostringstream table;
  write_failures_table(report, table);
  EXPECT_THAT(table.str(), testing::ContainsRegex("incomplete, no failure found +2 "));
  EXPECT_THAT(table.str(), testing::ContainsRegex("incomplete, all steps were run +3 "));
}

// A run that names no cluster is of its tree's.
TEST(FailureReports, CountByCluster) {
  const FailureReport report = failure_report(some_counts());
  ASSERT_THAT(report.clusters, SizeIs(2));
  EXPECT_EQ(report.clusters[0].cluster, "eos");
  EXPECT_EQ(report.clusters[0].failed, 4);
  EXPECT_EQ(report.clusters[0].ended, 6);
  EXPECT_EQ(report.clusters[1].cluster, "");
  EXPECT_EQ(report.clusters[1].failed, 0);
}

TEST(FailureReports, CountByNode) {
  storage::FailureCounts counts;
  const auto add = [&](storage::RunId run, const std::string& cause, const std::string& node) {
    counts.lines.push_back({run, "2026-01-05T00:00:00Z", cause, "a line", node});
  };
  add(1, "worker_killed", "gpu-05");
  add(2, "segfault", "gpu-05");
  add(3, "segfault", "gpu-01");
  add(4, "segfault", "");
  add(6, "cuda_oom", "gpu-01");
  add(7, "cuda_oom", "gpu-01");
  const FailureReport report = failure_report(counts);
  ASSERT_THAT(report.nodes, SizeIs(2));
  EXPECT_EQ(report.nodes[0].node, "gpu-01");
  EXPECT_EQ(report.nodes[0].causes,
            (std::map<std::string, std::int64_t>{{"cuda_oom", 2}, {"segfault", 1}}));
  EXPECT_EQ(report.nodes[1].node, "gpu-05");
  EXPECT_EQ(report.nodes[1].counted.runs, 2);
  EXPECT_EQ(report.nodes[1].counted.newest_run, 2);
  EXPECT_EQ(report.nodes[1].newest_runs, (std::vector<storage::RunId>{2, 1}));
  EXPECT_EQ(report.nodes[1].causes,
            (std::map<std::string, std::int64_t>{{"segfault", 1}, {"worker_killed", 1}}));
}

TEST(FailureReports, HaveEveryDayBetweenTheFirstAndTheLast) {
  const FailureReport report = failure_report(some_counts());
  EXPECT_EQ(report.period, "day");
  ASSERT_THAT(report.periods, SizeIs(3));
  EXPECT_EQ(report.periods[0].begins_on, "2026-01-03");
  EXPECT_EQ(report.periods[0].ended, 7);
  EXPECT_EQ(report.periods[0].failed, 1);
  EXPECT_EQ(report.periods[0].complete, 4);
  EXPECT_EQ(report.periods[1].ended, 0);
  EXPECT_EQ(report.periods[2].failed, 3);
}

TEST(FailureReports, CountInWeeksAndMonthsWhereDaysAreTooMany) {
  storage::FailureCounts counts;
  counts.ended = {ended(RunStatus::failed, "hung", "2026-01-01", 1, 1),
                  ended(RunStatus::failed, "hung", "2026-01-04", 1, 2),
                  ended(RunStatus::failed, "hung", "2026-04-01", 1, 3)};
  FailureReport report = failure_report(counts);
  EXPECT_EQ(report.period, "week");
  EXPECT_EQ(report.periods.front().begins_on, "2025-12-29");  // a Monday
  EXPECT_EQ(report.periods.front().failed, 2);
  EXPECT_EQ(report.periods.back().begins_on, "2026-03-30");
  EXPECT_EQ(report.periods.back().failed, 1);
  counts.ended.push_back(ended(RunStatus::failed, "hung", "2024-12-31", 1, 4));
  counts.ended.push_back(ended(RunStatus::failed, "hung", "1970-01-01", 1, 5));
  report = failure_report(counts);
  EXPECT_EQ(report.period, "month");
  ASSERT_THAT(report.periods, SizeIs(kFailurePeriodsMax));
  EXPECT_EQ(report.periods.back().begins_on, "2026-04-01");
  EXPECT_EQ(report.ended_before, 1);
  std::int64_t failed = 0;
  for (const auto& period : report.periods) failed += period.failed;
  EXPECT_EQ(failed, 4);
}

// Weeks begin on Mondays, wherever the first day lies.
TEST(FailureReports, CountInWeeksWhileThoseThatTheDaysTouchAreFewEnough) {
  storage::FailureCounts counts;
  counts.ended = {ended(RunStatus::failed, "hung", "2025-01-06", 1, 1),   // a Monday
                  ended(RunStatus::failed, "hung", "2026-03-15", 1, 2)};  // 434 days
  FailureReport report = failure_report(counts);
  EXPECT_EQ(report.period, "week");
  EXPECT_THAT(report.periods, SizeIs(kFailurePeriodsMax));
  EXPECT_EQ(report.ended_before, 0);
  counts.ended = {ended(RunStatus::failed, "hung", "2025-01-05", 1, 1),   // a Sunday
                  ended(RunStatus::failed, "hung", "2026-03-14", 1, 2)};  // 434 days
  report = failure_report(counts);
  EXPECT_EQ(report.period, "month");
  EXPECT_THAT(report.periods, SizeIs(15));
  EXPECT_EQ(report.ended_before, 0);
}

TEST(FailureReports, SayWhichNodesAreLeftOut) {
  storage::FailureCounts counts;
  const auto add_nodes = [&](std::size_t many) {
    for (std::size_t i = 0; i < many; ++i) {
      const auto run = static_cast<storage::RunId>(counts.lines.size() + 1);
      counts.lines.push_back(
          {run, "2026-01-05T00:00:00Z", "task_killed", "a line", "n" + std::to_string(run)});
    }
  };
  const auto table = [&] {
    std::ostringstream out;
    write_failures_table(failure_report(counts), out);
    return out.str();
  };
  add_nodes(kFailureNodesMax);
  EXPECT_THAT(table(), Not(HasSubstr("left out")));
  EXPECT_THAT(table(), Not(HasSubstr("stored last")));
  add_nodes(1);
  EXPECT_THAT(table(), HasSubstr("\n1 more node is left out\n"));
  add_nodes(1);
  counts.lines_are_of_all = false;
  EXPECT_THAT(table(), HasSubstr("\n2 more nodes are left out\nRead are the lines of the 10000 "
                                 "failed runs that were stored last.\n"));
}

TEST(FailureReports, AreWrittenAsTableCsvAndJson) {
  const FailureReport report = failure_report(some_counts());
  std::ostringstream table;
  write_failures_table(report, table);
  EXPECT_THAT(table.str(), HasSubstr("4 of 10 ended runs failed (40.0 %), 4 complete"));
  EXPECT_THAT(table.str(), HasSubstr("incomplete, no failure found"));
  std::ostringstream csv;
  write_failures_csv(report, csv);
  EXPECT_THAT(csv.str(), HasSubstr("\r\ncuda_oom,,3,0.3,11,2026-01-05T00:00:00Z,0\r\n"));
  EXPECT_THAT(csv.str(), HasSubstr("\r\n,incomplete,2,0.2,8,2026-01-03T00:00:00Z,0\r\n"));
  const Json json = failures_json(report);
  EXPECT_EQ(json["causes"][0]["share"], 0.3);
  EXPECT_TRUE(json["causes"][0]["advice"].is_string());
  EXPECT_TRUE(json["clusters"][1]["cluster"].is_null());
}

}  // namespace
}  // namespace llmb::report
