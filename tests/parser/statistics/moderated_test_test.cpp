#include "parser/statistics/moderated_test.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "parser/statistics/published_standing.h"
#include "parser/statistics/student_t.h"

namespace llmb::parser {
namespace {

std::vector<double> logs_of(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

// As three configurations of the same database taught it.
RunNoise noise(double stddev, double degrees) {
  return {stddev, degrees, 3, 9, "the test"};
}

TEST(ModeratedTest, OfOneRunAgainstOneIsThePriors) {
  const ModeratedTest test = moderated_test(logs_of({7.0}), logs_of({7.07}), noise(0.002, 4));
  EXPECT_EQ(test.degrees_of_freedom, 4);
  EXPECT_NEAR(test.stddev, 0.002, 1e-12);
  EXPECT_NEAR(test.t, std::log(1.01) / (0.002 * std::sqrt(2.0)), 1e-9);
  EXPECT_NEAR(test.p_value, student_t_two_sided_p(test.t, 4), 1e-12);
  const RatioInterval interval = ratio_interval(test, 0.95);
  EXPECT_NEAR(std::sqrt(interval.low * interval.high), 1.01, 1e-9);
  // t(0.95, 4) = 2.776445
  EXPECT_NEAR(std::log(interval.high / interval.low) / 2, 2.776445 * 0.002 * std::sqrt(2.0), 1e-7);
}

// With a prior of no weight it is the t test with one variance for both.
TEST(ModeratedTest, OfManyRunsIsStudents) {
  const std::vector<double> a = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                                 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  const std::vector<double> b = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                                 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};
  const ModeratedTest test = moderated_test(a, b, noise(1, 1e-12));
  EXPECT_NEAR(test.t, 2.455356398286006, 1e-9);  // as Welch's for sides of one size
  EXPECT_NEAR(test.degrees_of_freedom, 28, 1e-9);
}

TEST(ModeratedTest, WeighsOwnDeviationAndPriorByTheirDegrees) {
  const ModeratedTest test =
      moderated_test(std::vector{0.0, 0.02}, std::vector{0.1, 0.1, 0.1}, noise(0.01, 3));
  // squares: 2 * 0.01^2 of the runs, 3 * 0.01^2 of the prior; 6 degrees
  EXPECT_NEAR(test.stddev, std::sqrt(5e-4 / 6), 1e-12);
  EXPECT_NEAR(test.log_ratio, 0.09, 1e-12);
}

// With a prior that says less than the runs show, which counts by its share of their variance: 3
// degrees of 0.001^2 beside 3 of 0.01^2 are 0.03.
TEST(ModeratedTest, BelievesTheRunsWhereThePriorSaysLess) {
  const double squares = 3e-4;  // 3 degrees of 0.01^2
  const KnownVariance known = known_variance(noise(0.001, 3), squares, 3);
  EXPECT_NEAR(known.degrees_of_freedom, 3.03, 1e-9);
  EXPECT_NEAR(known.stddev * known.stddev, (0.03e-6 + 3e-4) / 3.03, 1e-12);
  const double deviation = std::sqrt(squares / 4);
  const ModeratedTest test = moderated_test(std::vector{-deviation, deviation},
                                            std::vector{-deviation, deviation}, noise(0.001, 3));
  EXPECT_LT(test.degrees_of_freedom, 2.03);
  EXPECT_GT(test.stddev, 0.012);
  // At equal deviations both count whole.
  EXPECT_NEAR(known_variance(noise(0.01, 3), squares, 3).degrees_of_freedom, 6, 1e-9);
  EXPECT_NEAR(known_variance(noise(0.02, 3), squares, 3).degrees_of_freedom, 6, 1e-9);
}

TEST(ModeratedTest, LetsPublicRunsGiveWayToTheTestedOnes) {
  RunNoise from_outside = noise(0.01, 3);
  from_outside.group_count = 0;
  EXPECT_NEAR(known_variance(from_outside, 0, 0).degrees_of_freedom, 3, 1e-9);
  const KnownVariance known = known_variance(from_outside, 2e-6, 2);  // 2 degrees of 0.001^2
  EXPECT_NEAR(known.degrees_of_freedom, 3, 1e-9);                     // 1 of the public runs'
  EXPECT_NEAR(known.stddev * known.stddev, (1e-4 + 2e-6) / 3, 1e-12);
  // Repeats are not what is tested.
  from_outside.repeat_degrees_of_freedom = 5;
  EXPECT_NEAR(known_variance(from_outside, 0, 0).degrees_of_freedom, 8, 1e-9);
}

TEST(ModeratedTest, SaysWhatItCouldNotHaveSeen) {
  const ModeratedTest test =
      moderated_test(std::vector{0.0, 0.001}, std::vector{0.004, 0.005}, noise(0.005, 10));
  EXPECT_GT(test.p_value, 0.05);
  EXPECT_GT(equivalence_p_value(test, 0.01), 0.05);
  EXPECT_LT(equivalence_p_value(test, 0.05), 0.001);
  const double visible = smallest_visible_difference(test, 0.95);
  EXPECT_GT(visible, 0.012);
  EXPECT_LT(visible, 0.016);
  const auto more = more_runs_to_decide(test, 0.01, 0.95);
  ASSERT_TRUE(more);
  EXPECT_GT(*more, 1);
  EXPECT_LT(*more, 20);
  EXPECT_EQ(more_runs_to_decide(moderated_test(std::vector{0.0}, std::vector{0.3}, noise(0.01, 10)),
                                0.01, 0.95),
            0);
  // A difference of just the margin is neither different nor equivalent for long.
  EXPECT_FALSE(more_runs_to_decide(
      moderated_test(std::vector{0.0}, std::vector{0.01}, noise(0.2, 10)), 0.01, 0.95));
}

TEST(OneSidedBounds, HoldTheSpeedFromOneSideEach) {
  const RatioInterval bounds = one_sided_bounds(logs_of({1.02}), noise(0.01, 8), 0.95);
  // t(0.90 two-sided, 8) = 1.859548
  EXPECT_NEAR(bounds.low, 1.02 * std::exp(-0.01859548), 1e-7);
  EXPECT_NEAR(bounds.high, 1.02 * std::exp(0.01859548), 1e-7);
}

TEST(PublishedStanding, IsReachedNotReachedOrNotDecided) {
  const RunNoise usual = noise(0.002, 6);
  EXPECT_EQ(standing_against(std::vector{1.01, 1.012}, 1, usual)->verdict,
            StandingVerdict::reached);
  EXPECT_EQ(standing_against(std::vector{0.97}, 1, usual)->verdict, StandingVerdict::not_reached);
  EXPECT_EQ(standing_against(std::vector{1.001}, 1, usual)->verdict, StandingVerdict::not_decided);
  // One run that is as fast as published by far, and one that is not, decide nothing.
  EXPECT_EQ(standing_against(std::vector{1.05, 0.97}, 1, usual)->verdict,
            StandingVerdict::not_decided);
  EXPECT_FALSE(standing_against({}, 1, usual));
  const auto standing = *standing_against(std::vector{1.01}, 0.999, usual);
  EXPECT_NEAR(standing.speed, 1.01, 1e-9);
  EXPECT_EQ(standing.line, 0.999);
}

TEST(StartDrift, TellsADriftFromADifference) {
  std::vector<StartedRun> runs;
  for (int i = 0; i < 10; ++i) runs.push_back({0.01 * i, i % 2 == 1});
  const auto drift = *start_drift(runs, noise(0.0007, 1.2));
  EXPECT_NEAR(drift.change_per_run, std::expm1(0.01), 1e-9);
  EXPECT_LT(drift.p_value, 0.001);
  EXPECT_FALSE(drift.is_separate);
  for (int i = 0; i < 10; ++i) runs[static_cast<std::size_t>(i)] = {i < 5 ? 0.0 : 0.05, i >= 5};
  const auto step = *start_drift(runs, noise(0.0007, 1.2));
  EXPECT_NEAR(step.change_per_run, 0, 1e-12);
  EXPECT_GT(step.p_value, 0.9);
  EXPECT_TRUE(step.is_separate);
  EXPECT_FALSE(start_drift(std::span(runs).first(3), noise(0.0007, 1.2)));
  EXPECT_FALSE(start_drift(std::span(runs).first(5), noise(0.0007, 1.2)));  // one side only
}

std::vector<NoiseGroup> made_groups(std::mt19937_64& random, int count, int runs, double stddev,
                                    double spread) {
  std::normal_distribution<double> normal;
  std::vector<NoiseGroup> groups;
  for (int g = 0; g < count; ++g) {
    const double own = stddev * std::exp(spread * normal(random));
    double mean = 0;
    double squares = 0;
    for (int i = 1; i <= runs; ++i) {
      const double value = own * normal(random);
      const double change = value - mean;
      mean += change / i;
      squares += change * (value - mean);
    }
    groups.push_back({std::sqrt(squares / (runs - 1)), runs});
  }
  return groups;
}

TEST(RunNoise, IsFoundAgain) {
  std::mt19937_64 random(20261122);
  const RunNoise alike = learn_run_noise(made_groups(random, 30, 4, 0.005, 0), "made");
  EXPECT_NEAR(alike.stddev, 0.005, 0.0008);
  EXPECT_GT(alike.degrees_of_freedom, 8);
  EXPECT_EQ(alike.group_count, 30);
  EXPECT_EQ(alike.run_count, 120);
  const RunNoise unlike = learn_run_noise(made_groups(random, 30, 10, 0.001, 1.0), "made");
  EXPECT_LT(unlike.degrees_of_freedom, 4);
  EXPECT_GT(unlike.stddev, 0.0003);
  EXPECT_LT(unlike.stddev, 0.002);
}

TEST(RunNoise, IsNoBetterKnownThanTheRunsAllow) {
  const std::vector<NoiseGroup> groups(3, NoiseGroup{0.004, 3});
  EXPECT_TRUE(suffices_for_noise(groups));
  const RunNoise noise = learn_run_noise(groups, "made");
  EXPECT_LE(noise.degrees_of_freedom, 6);
  EXPECT_NEAR(noise.stddev, 0.004, 0.0005);
  EXPECT_FALSE(suffices_for_noise(std::span(groups).first(2)));
  const std::vector<NoiseGroup> pairs(3, NoiseGroup{0.004, 2});
  EXPECT_FALSE(suffices_for_noise(pairs));
}

// Rounded step times may all be equal: that is no noise of 0.
TEST(RunNoise, IsNeverNothing) {
  const std::vector<NoiseGroup> groups(4, NoiseGroup{0, 5});
  EXPECT_GT(learn_run_noise(groups, "made").stddev, 1e-6);
}

}  // namespace
}  // namespace llmb::parser
