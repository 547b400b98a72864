// Histories written down for eyes and for other programs.
#include "server/report/history_report.h"

#include <gmock/gmock.h>

#include <memory>
#include <sstream>
#include <utility>

#include "server/report/history_json.h"
#include "server/report/json.h"

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
  history.series[0].drift = parser::HistoryDrift{1, 8, 5, 5.5, 1.1, 1.0137, false, true};
  const std::string table = text_by(write_history_table, runs, history);
  EXPECT_THAT(table, HasSubstr("  drifts from here on, +10.00 % in all\n"));
  EXPECT_THAT(table, HasSubstr("\nThe step time drifts from run 2 on: +10.00 %, 5.0000 s to "
                               "5.5000 s, +1.370 % a run.\n"));
  EXPECT_EQ(history_json(runs, history)["series"][0]["drift"]["goes_on"], true);
  history.series[0].drift->to = 6;
  history.series[0].drift->goes_on = false;
  EXPECT_EQ(history_json(runs, history)["series"][0]["drift"]["goes_on"], false);
  const std::string ended = text_by(write_history_table, runs, history);
  EXPECT_THAT(ended, HasSubstr("  drifted from here to run 7, +10.00 % in all\n"));
  EXPECT_THAT(ended, HasSubstr("\nThe step time drifted from run 2 to run 7: +10.00 %"));
  const std::string csv = text_by(write_history_csv, runs, history);
  EXPECT_THAT(
      csv, HasSubstr(",cluster,drift_step_time_ratio,drift_last_run_id,drift_may_begin_earlier,"));
  EXPECT_THAT(csv, HasSubstr(",1.1,7,false,,,\r\n"));
  EXPECT_THAT(csv, HasSubstr(",drifting,,,,,"));
}

TEST(HistoryReports, DoNotTellTheBeginningOfADriftThatIsNotKnown) {
  const auto runs = runs_with_means(5);
  auto history = history_of_all(runs);
  history.series[0].drift = parser::HistoryDrift{1, 8, 5, 5.5, 1.1, 1.0137, true, true};
  const std::string table = text_by(write_history_table, runs, history);
  EXPECT_THAT(table, HasSubstr("  drifts at least from here on, +10.00 %\n"));
  EXPECT_THAT(table, HasSubstr("\nThe step time drifts at least from run 2 on: +10.00 %"));
  EXPECT_THAT(text_by(write_history_csv, runs, history), HasSubstr(",1.1,9,true,"));
  EXPECT_EQ(history_json(runs, history)["series"][0]["drift"]["may_begin_earlier"], true);
}

// The change is told, and nothing that would take it back.
TEST(HistoryReports, SayOfWhichLevelTheNewestRunsAreNotKnown) {
  const auto runs = runs_with_means(5);
  auto history = history_of_all(runs);
  history.series[0].changes.push_back({6, 5, 5.335, 1.067, {}});
  history.series[0].newest = NewestLevel::unknown;
  const std::string table = text_by(write_history_table, runs, history);
  EXPECT_THAT(table, HasSubstr("+6.70 % from here on"));
  EXPECT_THAT(table, HasSubstr("\nToo few runs since the last change to tell whether the newest "
                               "leave its level again."));
}

TEST(HistoryReports, TellSlowStepsByMeans) {
  const auto runs = runs_with_means(5.45);
  auto history = history_of_all(runs);
  history.series[0].mean_changes.push_back({3, 0.99999, 1.09, 5, 5.45, {}});
  history.series[0].newest_means = NewestLevel::higher;
  const std::string table = text_by(write_history_table, runs, history);
  EXPECT_THAT(table, HasSubstr("  Mean (s)  Level"));
  EXPECT_THAT(table, HasSubstr("  5.0000    5.4500"));
  EXPECT_THAT(table, HasSubstr("more slow steps from here on (means +9.00 % off medians, +0.00 % "
                               "before): nothing that is known"));
  EXPECT_THAT(table, HasSubstr("\nThe two newest runs have more slow steps than those before"));
  const std::string csv = text_by(write_history_csv, runs, history);
  EXPECT_THAT(csv, HasSubstr(",,,,,,,,1.0900"));
  EXPECT_THAT(csv, HasSubstr(",nothing that is known,\r\n"));
  EXPECT_THAT(csv, HasSubstr(",more_slow_steps\r\n"));
}

// The medians fall by more than slow steps add: the means fall, too.
TEST(HistoryReports, TellSlowStepsApartFromAChangeOfMediansAtTheSameRun) {
  const auto runs = runs_with_means(5);
  auto history = history_of_all(runs);
  history.series[0].changes.push_back({3, 5, 4, 0.8, {{"release", "a", "b", true}}});
  history.series[0].mean_changes.push_back(
      {3, 1, 1.0523, 4.999, 4.211, {{"framework", "c", "d", true}}});
  EXPECT_THAT(text_by(write_history_table, runs, history),
              HasSubstr("-20.00 % from here on: release: a -> b; more slow steps from here on "
                        "(means +5.23 % off medians, +0.00 % before): framework: c -> d"));
  const Json series = history_json(runs, history)["series"][0];
  EXPECT_EQ(series["changes"][0]["verdict"], "faster");
  EXPECT_EQ(series["mean_changes"][0]["verdict"], "more_slow_steps");
  const std::string csv = text_by(write_history_csv, runs, history);
  EXPECT_THAT(csv, HasSubstr(",0.8,release: a -> b,,,,,,1.0523,framework: c -> d,\r\n"));
}

}  // namespace
}  // namespace llmb::report
