// What a comparison says where the runs of one side become slower.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parser/statistics/run_comparison.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;
using testing::Not;

RunNoise quiet_noise() {
  RunNoise noise = public_run_noise();
  noise.stddev = 0.0007;
  return noise;
}

TEST(SideDrift, IsTheSlopeOfItsOwnStarts) {
  std::vector<StartedRun> runs;
  for (int i = 0; i < 6; ++i) runs.push_back({1 + 0.01 * i});
  const auto drift = side_drift(runs, quiet_noise());
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->change_per_run, std::expm1(0.01), 1e-9);
  EXPECT_NEAR(drift->change, std::expm1(0.05), 1e-9);
  EXPECT_LT(drift->p_value, 0.001);
  EXPECT_GT(side_drift(std::vector<StartedRun>(6), quiet_noise())->p_value, 0.9);
  EXPECT_FALSE(side_drift(std::vector<StartedRun>(2), quiet_noise()));
}

// Drifts from one run to the next; both sides have the same middle. In clusters of their own the
// numbers of jobs tell the order of each side's starts alone.
MetricComparison drifting_step_times(double drift, double other_drift = 0,
                                     bool have_clusters = false) {
  std::vector<ComparedRun> runs;
  ComparisonOptions options;
  for (int i = 0; i < 20; ++i) {
    ComparedRun& run = runs.emplace_back();
    const bool is_other = i % 2 == 1;
    const double step_time_s = 2.7 * std::exp((is_other ? other_drift : drift) * (i / 2 - 4.5)) *
                               (1 + 0.0003 * (i / 2 % 3));
    run.id = i + 1;
    run.job_id = 100 + i;
    if (have_clusters) run.cluster = is_other ? "eos" : "selene";
    run.dialect = Dialect::nemo;
    run.judgement.summary.status = RunStatus::complete;
    run.judgement.summary.window = {11, 44};
    run.judgement.summary.step_time_s = {34,          step_time_s, 0,           0,
                                         step_time_s, step_time_s, step_time_s, step_time_s};
    options.sides.push_back(is_other ? 1 : 0);
  }
  options.side_names = {"base", "candidate"};
  return compare_runs(runs, options).comparisons.at(0).metrics[0];
}

TEST(SideDrift, KeepsTwoSidesFromBeingCalledEquivalent) {
  const MetricComparison still = drifting_step_times(0);
  ASSERT_TRUE(still.test);
  EXPECT_TRUE(still.test->is_equivalent);
  EXPECT_THAT(still.text, Not(HasSubstr("drift")));
  const MetricComparison drifting = drifting_step_times(0.004);
  ASSERT_TRUE(drifting.test);
  EXPECT_EQ(drifting.verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_LT(drifting.test->equivalence_p_value, 0.05);
  EXPECT_FALSE(drifting.test->is_equivalent);
  EXPECT_THAT(drifting.text, HasSubstr("not called equivalent"));
  EXPECT_THAT(drifting.text, HasSubstr("The runs of the baseline drift by +0.40 % from one start"));
  EXPECT_THAT(drifting.text, Not(HasSubstr("The runs drift")));
}

TEST(SideDrift, IsToldOfBothWhereTheOrderOfAllStartsIsNotKnown) {
  const MetricComparison together = drifting_step_times(0.004, 0.004);
  EXPECT_THAT(together.text, HasSubstr("The runs drift by +0."));
  const MetricComparison apart = drifting_step_times(0.004, 0.004, true);
  EXPECT_THAT(apart.text, HasSubstr("The runs of the baseline drift by +0.40 %"));
  EXPECT_THAT(apart.text, HasSubstr("The runs of the other side drift by +0.40 %"));
}

// A drift within the margin is told, and bars nothing.
TEST(SideDrift, WithinTheMarginIsTold) {
  const MetricComparison slow = drifting_step_times(0.0008);
  ASSERT_TRUE(slow.test);
  EXPECT_TRUE(slow.test->is_equivalent);
  EXPECT_THAT(slow.text, HasSubstr("The runs of the baseline drift by +0.08 %"));
}

}  // namespace
}  // namespace llmb::parser
