#include "parser/statistics/step_insight.h"

#include <gtest/gtest.h>

#include <cmath>

namespace llmb::parser {
namespace {

std::vector<StepSample> steps(const std::vector<double>& times_s) {
  std::vector<StepSample> samples;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    StepSample sample;
    sample.iteration = static_cast<std::int64_t>(i);
    sample.step_time_s = times_s[i];
    sample.step_time_resolution_s = 0.005;
    samples.push_back(sample);
  }
  return samples;
}

// 2 s with a small, irregular and repeatable jitter.
double steady_time_s(std::size_t step) {
  return 2.0 + 0.01 * std::sin(static_cast<double>(step) * 1.7);
}

std::vector<double> steady_times_s(std::size_t count) {
  std::vector<double> times_s(count);
  for (std::size_t i = 0; i < count; ++i) times_s[i] = steady_time_s(i);
  return times_s;
}

TEST(StepInsight, OfASteadyRunNamesNothing) {
  const StepInsight insight = compute_step_insight(steps(steady_times_s(50)));
  EXPECT_NEAR(insight.steady_step_time_s.value(), 2.0, 0.01);
  EXPECT_TRUE(insight.becomes_steady);
  EXPECT_EQ(insight.warm_up_last_iteration, std::nullopt);
  EXPECT_EQ(insight.outlier_count, 0);
  EXPECT_FALSE(insight.periodic.has_value());
}

TEST(StepInsight, IsAsFineAsMostStepsArePrinted) {
  auto times_s = steady_times_s(50);
  times_s[0] = 200.1;
  times_s[20] *= 1.09;
  times_s[30] = 101.2;
  auto samples = steps(times_s);
  for (StepSample& sample : samples) sample.step_time_resolution_s = 0.0005;
  // Long ones have fewer decimals.
  samples[0].step_time_resolution_s = samples[30].step_time_resolution_s = 0.05;
  const StepInsight insight = compute_step_insight(samples);
  EXPECT_LT(insight.steady_step_time_s_deviation.value(), 0.02);
  ASSERT_EQ(insight.outliers.size(), 2U);
  EXPECT_EQ(insight.outliers[0].iteration, 20);
}

TEST(StepInsight, FindsTheEndOfWarmUp) {
  auto times_s = steady_times_s(50);
  times_s[0] = 56;
  times_s[1] = 9;
  times_s[2] = 2.4;
  const StepInsight insight = compute_step_insight(steps(times_s));
  EXPECT_EQ(insight.warm_up_last_iteration, 2);
  EXPECT_EQ(insight.warm_up_step_count, 3);
  EXPECT_EQ(insight.outlier_count, 0);
}

TEST(StepInsight, NamesASlowGraphCaptureAfterTheFirstStep) {
  auto times_s = steady_times_s(50);
  times_s[0] = 56;
  times_s[4] = 11;
  const StepInsight insight = compute_step_insight(steps(times_s));
  EXPECT_EQ(insight.warm_up_last_iteration, 0);
  ASSERT_EQ(insight.outliers.size(), 1U);
  EXPECT_EQ(insight.outliers[0].iteration, 4);
  EXPECT_NEAR(insight.outliers[0].ratio, 5.5, 0.1);
}

TEST(StepInsight, FindsThatEveryFifthStepIsSlow) {
  auto times_s = steady_times_s(50);
  times_s[0] = 40;
  for (std::size_t i = 5; i < times_s.size(); i += 5) times_s[i] = 3.5;
  times_s[33] = 8;
  const StepInsight insight = compute_step_insight(steps(times_s));
  ASSERT_TRUE(insight.periodic.has_value());
  EXPECT_EQ(insight.periodic->period, 5);
  EXPECT_EQ(insight.periodic->first_iteration, 5);
  EXPECT_EQ(insight.periodic->step_count, 9);
  EXPECT_NEAR(insight.periodic->ratio, 1.75, 0.01);
  EXPECT_NEAR(insight.periodic->time_share_lost, 0.75 / 5.75, 0.01);
  ASSERT_EQ(insight.outliers.size(), 1U);
  EXPECT_EQ(insight.outliers[0].iteration, 33);
}

TEST(StepInsight, TakesSlowStepsWithoutARuleForOutliers) {
  auto times_s = steady_times_s(60);
  for (const std::size_t i : {7U, 19U, 22U, 41U, 55U}) times_s[i] = 3;
  const StepInsight insight = compute_step_insight(steps(times_s));
  EXPECT_FALSE(insight.periodic.has_value());
  EXPECT_EQ(insight.outlier_count, 5);
}

TEST(StepInsight, NeverBecomesSteadyWhereTheEndIsSlow) {
  std::vector<double> times_s = {9, 1, 9, 9, 1, 9, 9, 9, 1, 1, 1, 9, 9, 1, 1, 1};
  const StepInsight insight = compute_step_insight(steps(times_s));
  EXPECT_EQ(insight.timed_step_count, 16);
  EXPECT_TRUE(insight.steady_step_time_s.has_value());
}

TEST(StepInsight, SaysNothingOfFewOrUntimedSteps) {
  EXPECT_FALSE(compute_step_insight(steps({1, 1, 1})).steady_step_time_s.has_value());
  EXPECT_FALSE(compute_step_insight({}).becomes_steady);
  auto samples = steps(steady_times_s(20));
  for (StepSample& sample : samples) sample.step_time_s = std::nan("");
  EXPECT_EQ(compute_step_insight(samples).timed_step_count, 0);
}

TEST(StepInsight, SumsUpMemory) {
  auto samples = steps(steady_times_s(3));
  samples[0].memory_bytes_max = 7e10;
  samples[1].memory_bytes_max = 8e10;
  samples[2].memory_bytes_max = 8e10;
  samples[1].memory_bytes_allocated = 5e10;
  const StepInsight insight = compute_step_insight(samples);
  EXPECT_EQ(insight.memory_bytes_max, 8e10);
  EXPECT_EQ(insight.memory_bytes_max_iteration, 1);
  EXPECT_EQ(insight.memory_bytes_allocated_max, 5e10);
}

}  // namespace
}  // namespace llmb::parser
