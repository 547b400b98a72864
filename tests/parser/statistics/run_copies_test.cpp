#include "parser/statistics/run_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/statistics/run_comparison.h"
#include "parser/statistics/run_history.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ComparedRun make_run(std::int64_t id, double step_time_s, const std::string& log) {
  ComparedRun run;
  run.id = id;
  run.dialect = Dialect::nemo;
  run.content_key.by_bytes = log;
  run.judgement.summary.status = RunStatus::complete;
  run.judgement.summary.window = {11, 44};
  run.judgement.summary.step_time_s = {34,          step_time_s, 0,           0,
                                       step_time_s, step_time_s, step_time_s, step_time_s};
  return run;
}

ComparedRun make_named_run(std::int64_t id, double step_time_s, const std::string& log) {
  ComparedRun run = make_run(id, step_time_s, log);
  run.configuration.set("workload", "own", ConfigSource::llmb_config);
  run.configuration.set("gpu_count", "64", ConfigSource::llmb_config);
  return run;
}

// Copies that say nothing of themselves are read first.
std::vector<ComparedRun> nameless_copies_first() {
  return {make_run(1, 2.0, "a"), make_run(2, 2.1, "b"), make_named_run(3, 2.0, "a"),
          make_named_run(4, 2.1, "b"), make_named_run(5, 2.2, "c")};
}

TEST(RunCopies, AreCountedByWhatTheySayOfThemselves) {
  EXPECT_THAT(counting_order(std::vector<std::size_t>{0, 2, 0, 5, 2}), ElementsAre(3, 1, 4, 0, 2));
  EXPECT_THAT(originals_of(nameless_copies_first()), ElementsAre(2, 3, 2, 3, 4));
}

TEST(RunCopies, TakeNoRunOfAHistoryThatSaysWhatItIsOf) {
  const RunHistory history = run_history(history_runs(nameless_copies_first()), {}, {}, {});
  ASSERT_EQ(history.series.size(), 1U);
  EXPECT_EQ(history.series[0].identity.workload, "own");
  EXPECT_THAT(history.series[0].runs, ElementsAre(2, 3, 4));
  ASSERT_EQ(history.series[0].copies.size(), 2U);
  EXPECT_EQ(history.series[0].copies[0].run, 0U);
  EXPECT_EQ(history.series[0].copies[0].copy_of, 2U);
}

TEST(RunCopies, TakeNoRunOfAComparisonThatSaysWhatItIsOf) {
  const RunComparison result = compare_runs(nameless_copies_first(), {});
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_THAT(result.groups[0].runs, ElementsAre(2, 3, 4));
  EXPECT_THAT(result.runs[0].exclusion, HasSubstr("the same bytes as that of run 3"));
  ComparisonOptions sides;
  sides.sides = {0, 0, 1, 1, 1};
  EXPECT_THAT(compare_runs(nameless_copies_first(), sides).groups[0].runs, ElementsAre(0, 1))
      << "the first side keeps what it has";
}

// A copy of a profiled run's log, without the profile beside it.
TEST(RunCopies, AreLeftOutOfAComparisonWithTheRunThatWasLaunchedOtherwise) {
  std::vector<ComparedRun> runs = nameless_copies_first();
  runs[2].has_profiles = true;
  const RunComparison result = compare_runs(runs, {});
  EXPECT_THAT(result.groups.at(0).runs, ElementsAre(3, 4));
  EXPECT_THAT(result.runs[0].exclusion, HasSubstr("the same bytes as that of run 3"));
  ComparisonOptions included;
  included.included = {RunMark::profiled};
  EXPECT_EQ(compare_runs(runs, included).runs[2].exclusion, "");
}

TEST(RunCopies, TeachTheNoiseOfTheRunThatSaysWhatItIsOf) {
  std::vector<std::int64_t> ids;
  for (const NoiseRun& run : noise_runs(nameless_copies_first())) ids.push_back(run.id);
  EXPECT_THAT(ids, ElementsAre(3, 4, 5));
}

}  // namespace
}  // namespace llmb::parser
