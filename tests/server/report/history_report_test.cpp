// Histories written down for eyes and for other programs.
#include "server/report/history_report.h"

#include <gmock/gmock.h>

#include <memory>
#include <sstream>
#include <utility>

namespace llmb::report {
namespace {

using parser::NewestLevel;
using testing::HasSubstr;
using testing::Not;

// Nine runs of 5 s, of which the mean is what it is given.
parser::HistoryRuns runs_with_means(double mean_s) {
  const auto configuration = std::make_shared<const parser::HistoryConfiguration>();
  parser::HistoryRuns runs;
  for (int id = 1; id <= 9; ++id) {
    parser::HistoryRun run;
    run.id = id;
    run.experiment = "own";
    run.configuration = configuration;
    run.step_time_s = {34, mean_s, 0, 0, 5, 5, 5, 5};
    runs.push_back(std::make_shared<const parser::HistoryRun>(std::move(run)));
  }
  return runs;
}

parser::RunHistory history_of_all(const parser::HistoryRuns& runs) {
  parser::RunHistory history;
  history.series.emplace_back();
  for (std::size_t i = 0; i < runs.size(); ++i) history.series[0].runs.push_back(i);
  history.series[0].newest = NewestLevel::steady;
  return history;
}

using Writer = void (*)(const parser::HistoryRuns&, const parser::RunHistory&, std::ostream&);

std::string text_by(Writer write, const parser::HistoryRuns& runs,
                    const parser::RunHistory& history) {
  std::ostringstream out;
  write(runs, history, out);
  return out.str();
}

TEST(HistoryReports, TellADriftWhileItGoesOnAndWhenItEnded) {
  const auto runs = runs_with_means(5);
  auto history = history_of_all(runs);
  EXPECT_THAT(text_by(write_history_table, runs, history), Not(HasSubstr("drift")));
  history.series[0].newest = NewestLevel::drifting;
  history.series[0].drift = parser::HistoryDrift{1, 8, 5, 5.5, 1.1, 1.0137};
  const std::string table = text_by(write_history_table, runs, history);
  EXPECT_THAT(table, HasSubstr("  drifts from here on, +10.00 % in all\n"));
  EXPECT_THAT(table, HasSubstr("\nThe step time drifts from run 2 on: +10.00 %, 5.0000 s to "
                               "5.5000 s, +1.370 % a run.\n"));
  history.series[0].drift->to = 6;
  EXPECT_THAT(text_by(write_history_table, runs, history),
              HasSubstr("\nThe step time drifted from run 2 to run 7: +10.00 %"));
  const std::string csv = text_by(write_history_csv, runs, history);
  EXPECT_THAT(csv, HasSubstr(",cluster,drift_step_time_ratio,drift_last_run_id,"));
  EXPECT_THAT(csv, HasSubstr(",1.1,7,,\r\n"));
  EXPECT_THAT(csv, HasSubstr(",drifting,,,,,"));
}

TEST(HistoryReports, TellSlowStepsByMeans) {
  const auto runs = runs_with_means(5.45);
  auto history = history_of_all(runs);
  history.series[0].mean_changes.push_back({3, 0.99999, 1.09, 5, 5.45, {}});
  history.series[0].newest_means = NewestLevel::higher;
  const std::string table = text_by(write_history_table, runs, history);
  EXPECT_THAT(table, HasSubstr("  Mean (s)  Level"));
  EXPECT_THAT(table, HasSubstr("  5.0000    5.4500"));
  EXPECT_THAT(table, HasSubstr("by means +9.00 % from here on (means +9.00 % off medians, +0.00 % "
                               "before): nothing that is known"));
  EXPECT_THAT(table,
              HasSubstr("\nBy means, against their medians, the two newest runs are slower"));
  const std::string csv = text_by(write_history_csv, runs, history);
  EXPECT_THAT(csv, HasSubstr(",nothing that is known,,,,,1.0900"));
  EXPECT_THAT(csv, HasSubstr(",slower\r\n"));
}

}  // namespace
}  // namespace llmb::report
