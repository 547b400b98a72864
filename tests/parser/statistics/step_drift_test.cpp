// StepDrift on made-up runs: rarely a drift where there is none, and almost always the 10 % that no
// mean over a window shows.
#include "parser/statistics/step_drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "parser/statistics/step_insight.h"

namespace llmb::parser {
namespace {

constexpr double kResolutionS = 0.0005;

struct MadeUpRun {
  std::size_t steps = 50;
  double correlation = 0.6;
  double deviation = 0.005;
  double slow_share = 0.02;  // of the steps take a fifth longer
  double drift = 0;          // over the whole run
};

// Of steps of 2 s, printed with three decimals. std::normal_distribution is not the same
// everywhere: the sum of twelve is near enough.
std::vector<DriftStep> make(const MadeUpRun& run, std::mt19937& random) {
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  };
  std::vector<DriftStep> steps;
  double state = normal();
  for (std::size_t i = 0; i < run.steps; ++i) {
    state = run.correlation * state + std::sqrt(1 - run.correlation * run.correlation) * normal();
    const double along = static_cast<double>(i) / static_cast<double>(run.steps - 1);
    double time_s = 2 * (1 + run.deviation * state + run.drift * along);
    if (uniform() < run.slow_share) time_s *= 1.2;
    steps.push_back({static_cast<std::int64_t>(i), std::round(time_s * 1000) / 1000});
  }
  return steps;
}

// How many of `runs` show a change; without the least size that is told.
double share_shown(const MadeUpRun& run, int runs) {
  std::mt19937 random(20261122);
  int shown = 0;
  for (int i = 0; i < runs; ++i) {
    const auto drift = test_drift(make(run, random), kResolutionS);
    if (drift && drift->p_value <= kDriftPValueMax) ++shown;
  }
  return static_cast<double>(shown) / runs;
}

TEST(StepDrift, IsRarelySeenWhereThereIsNone) {
  for (const double correlation : {0.0, 0.6}) {
    for (const std::size_t steps : {30U, 34U, 50U, 100U, 300U}) {
      const double share =
          share_shown({.steps = steps, .correlation = correlation, .drift = 0}, 1000);
      std::printf("AR(1) %.1f, %zu steps without a drift: %.1f %% false alarms\n", correlation,
                  steps, 100 * share);
      EXPECT_LE(share, 0.02);
    }
  }
}

TEST(StepDrift, OfTenPercentIsSeen) {
  for (const auto& [steps, least] : {std::pair(34U, 0.85), {50U, 0.95}, {300U, 0.99}}) {
    const double share = share_shown({.steps = steps, .drift = 0.1}, 300);
    std::printf("AR(1) 0.6, %u steps, 10 %% drift: seen in %.1f %%\n", steps, 100 * share);
    EXPECT_GE(share, least);
  }
}

TEST(StepDrift, HasTheSizeAndTheSign) {
  std::mt19937 random(7);
  const auto slower = find_drift(make({.steps = 200, .drift = 0.1}, random), kResolutionS);
  ASSERT_TRUE(slower);
  EXPECT_NEAR(slower->relative_change, 0.1 / 1.05, 0.015);
  EXPECT_EQ(slower->first_iteration, 0);
  EXPECT_EQ(slower->last_iteration, 199);
  const auto faster = find_drift(make({.steps = 200, .drift = -0.1}, random), kResolutionS);
  ASSERT_TRUE(faster);
  EXPECT_LT(faster->relative_change, -0.08);
}

TEST(StepDrift, ThatIsSureButSmallIsNotTold) {
  std::vector<DriftStep> steps;
  for (int i = 0; i < 100; ++i) steps.push_back({i, 2 + 0.0001 * i + 0.001 * (i % 2)});
  const auto tested = test_drift(steps, 0.00005);
  ASSERT_TRUE(tested);
  EXPECT_LE(tested->p_value, kDriftPValueMax);
  EXPECT_FALSE(find_drift(steps, 0.00005));
}

TEST(StepDrift, OfEqualTimesIsNone) {
  const std::vector<DriftStep> equal = [] {
    std::vector<DriftStep> steps;
    for (int i = 0; i < 100; ++i) steps.push_back({i, 2});
    return steps;
  }();
  EXPECT_FALSE(find_drift(equal, 0));
  EXPECT_FALSE(find_drift(equal, kResolutionS));
}

TEST(StepDrift, NeedsThirtySteps) {
  std::mt19937 random(7);
  EXPECT_FALSE(test_drift(make({.steps = 29, .drift = 0.1}, random), kResolutionS));
}

TEST(StepDrift, IsPartOfTheInsight) {
  std::mt19937 random(7);
  std::vector<StepSample> samples;
  for (const DriftStep& step : make({.steps = 60, .slow_share = 0, .drift = 0.1}, random)) {
    StepSample sample;
    sample.iteration = step.iteration;
    sample.step_time_s = step.time_s;
    sample.step_time_resolution_s = kResolutionS;
    samples.push_back(sample);
  }
  const StepInsight insight = compute_step_insight(samples);
  ASSERT_TRUE(insight.drift);
  EXPECT_GT(insight.drift->relative_change, 0.07);
}

}  // namespace
}  // namespace llmb::parser
