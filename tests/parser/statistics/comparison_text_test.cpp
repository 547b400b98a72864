// How a comparison says its numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/statistics/run_comparison.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Two against two of one configuration, of which the other's medians and means are these.
MetricComparison step_times_of(double median_s, double mean_s, double scatter = 0) {
  std::vector<ComparedRun> runs;
  ComparisonOptions options;
  for (std::size_t i = 0; i < 4; ++i) {
    ComparedRun& run = runs.emplace_back();
    const bool is_other = i > 1;
    const double off = i % 2 == 0 ? 1 + scatter : 1 - scatter;
    const double median = (is_other ? median_s : 5.0) * off;
    const double mean = (is_other ? mean_s : 5.0) * off;
    run.id = static_cast<std::int64_t>(i) + 1;
    run.dialect = Dialect::nemo;
    run.judgement.summary.status = RunStatus::complete;
    run.judgement.summary.window = {11, 44};
    run.judgement.summary.step_time_s = {34, mean, 0, 0, median, median, median, median};
    options.sides.push_back(is_other ? 1 : 0);
  }
  return compare_runs(runs, options).comparisons.at(0).metrics[0];
}

TEST(ComparisonText, SaysOfWhatAPercentageIsWhereMeansAndMediansDiffer) {
  EXPECT_THAT(step_times_of(5.1, 5.1).text, StartsWith("+2.00 %: slower"));
  EXPECT_THAT(step_times_of(5.1, 5.11).text,
              StartsWith("+2.20 % by means, +2.00 % by medians: slower"));
}

TEST(ComparisonText, WritesLargePercentagesOut) {
  const std::string text = step_times_of(5.1, 5.1, 0.8).text;
  EXPECT_THAT(text, HasSubstr(" % or more would have been seen"));
  EXPECT_THAT(text, Not(HasSubstr("e+")));
}

}  // namespace
}  // namespace llmb::parser
