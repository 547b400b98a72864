#include "parser/statistics/mean_comparison.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace llmb::parser {
namespace {

using testing::HasSubstr;

TEST(MeanEstimate, HasAnIntervalFromTwoRunsOn) {
  EXPECT_FALSE(estimate_mean({}));
  const std::vector<double> one = {7.4};
  EXPECT_EQ(estimate_mean(one)->mean, 7.4);
  EXPECT_FALSE(estimate_mean(one)->low);
  EXPECT_FALSE(estimate_mean(one)->stddev_sample);
  const std::vector<double> three = {7.3829, 7.3923, 7.4062};
  const auto estimate = *estimate_mean(three);
  EXPECT_EQ(estimate.run_count, 3);
  EXPECT_NEAR(estimate.mean, 7.393800, 1e-9);
  EXPECT_NEAR(*estimate.stddev_sample, 0.0117222012, 1e-9);
  EXPECT_NEAR(*estimate.high - estimate.mean, 4.30265273 * 0.0117222012 / std::sqrt(3.0), 1e-8);
  EXPECT_NEAR(estimate.mean - *estimate.low, *estimate.high - estimate.mean, 1e-12);
}

// Computed with 30 digits.
TEST(MeanTest, IsWelchsForRepeatsOnBothSides) {
  const std::vector<double> a = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                                 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  const std::vector<double> b = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                                 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};
  const MeanTest test = test_means(a, b);
  EXPECT_EQ(test.method, MeanTestMethod::welch);
  EXPECT_NEAR(*test.t, 2.455356398286006, 1e-9);
  EXPECT_NEAR(*test.degrees_of_freedom, 24.98852929023142, 1e-9);
  EXPECT_NEAR(*test.p_value, 0.0213780014629, 1e-9);
  EXPECT_GT(*test.low, 0);  // the interval leaves 0 out exactly where p < 0.05
  EXPECT_LT(*test.low, test.difference);
  const MeanTest stricter = test_means(a, b, 0.99);
  EXPECT_LT(*stricter.low, 0);
}

TEST(MeanTest, SetsOneRunAgainstTheDeviationOfSeveral) {
  const std::vector<double> several = {10.0, 10.2, 9.9, 10.1};
  const std::vector<double> one = {11.0};
  const MeanTest test = test_means(several, one);
  EXPECT_EQ(test.method, MeanTestMethod::single_run);
  EXPECT_EQ(*test.degrees_of_freedom, 3);
  // s = sqrt(0.05 / 3); t = 0.95 / (s sqrt(1 + 1/4))
  EXPECT_NEAR(*test.t, 0.95 / (std::sqrt(0.05 / 3) * std::sqrt(1.25)), 1e-9);
  EXPECT_LT(*test.p_value, 0.01);
  const MeanTest other_way = test_means(one, several);
  EXPECT_NEAR(*other_way.t, -*test.t, 1e-12);
  EXPECT_NEAR(other_way.relative_difference, -0.95 / 11.0, 1e-12);
}

TEST(MeanTest, CannotTellOneRunFromAnother) {
  const std::vector<double> a = {7.0};
  const std::vector<double> b = {9.0};
  const MeanTest test = test_means(a, b);
  EXPECT_EQ(test.method, MeanTestMethod::none);
  EXPECT_FALSE(test.p_value);
  EXPECT_NEAR(test.relative_difference, 2.0 / 7.0, 1e-12);
  EXPECT_THAT(test.reason, HasSubstr("cannot be told from run-to-run noise"));
}

TEST(MeanTest, NeedsADeviation) {
  const std::vector<double> a = {7.0, 7.0};
  const std::vector<double> b = {9.0, 9.0, 9.0};
  EXPECT_THAT(test_means(a, b).reason, HasSubstr("no run-to-run deviation"));
  EXPECT_FALSE(test_means(a, b).p_value);
}

TEST(Holm, RaisesPValuesInOrder) {
  const std::vector<std::optional<double>> p = {0.01, std::nullopt, 0.04, 0.03, 0.9};
  const auto adjusted = holm_adjusted(p);
  EXPECT_NEAR(*adjusted[0], 0.04, 1e-12);
  EXPECT_FALSE(adjusted[1]);
  EXPECT_NEAR(*adjusted[3], 0.09, 1e-12);  // 3 * 0.03
  EXPECT_NEAR(*adjusted[2], 0.09, 1e-12);  // 2 * 0.04 is less than the one before it
  EXPECT_NEAR(*adjusted[4], 0.9, 1e-12);
}

// Runs of one configuration differ from each other by more than their iterations suggest. Tests on
// iterations then find differences between equals; tests on run means do as often as they may.
TEST(MeanTest, OnRunMeansRaisesNoFalseAlarmsWhereIterationsDo) {
  std::mt19937_64 random(20261121);
  std::normal_distribution<double> run_noise(0, 0.02);
  std::normal_distribution<double> iteration_noise(0, 0.05);
  constexpr int kTrials = 600;
  constexpr int kRuns = 4;
  constexpr int kIterations = 34;
  int alarms_on_runs = 0;
  int alarms_on_iterations = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::array<std::vector<double>, 2> means;
    std::array<std::vector<double>, 2> iterations;
    for (std::size_t side = 0; side < 2; ++side) {
      for (int run = 0; run < kRuns; ++run) {
        const double offset = run_noise(random);
        double sum = 0;
        for (int i = 0; i < kIterations; ++i) {
          iterations.at(side).push_back(7.0 + offset + iteration_noise(random));
          sum += iterations.at(side).back();
        }
        means.at(side).push_back(sum / kIterations);
      }
    }
    alarms_on_runs += *test_means(means[0], means[1]).p_value < 0.05 ? 1 : 0;
    alarms_on_iterations += *test_means(iterations[0], iterations[1]).p_value < 0.05 ? 1 : 0;
  }
  EXPECT_LT(alarms_on_runs, kTrials * 8 / 100);
  EXPECT_GT(alarms_on_runs, kTrials * 2 / 100);
  EXPECT_GT(alarms_on_iterations, kTrials * 19 / 100);
}

}  // namespace
}  // namespace llmb::parser
