#include "parser/statistics/repeat_noise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace llmb::parser {
namespace {

// So many values whose sample deviation is `deviation`: half of them above the level, half below.
std::vector<double> level(std::size_t count, double at, double deviation) {
  std::vector<double> values;
  const double n = static_cast<double>(count);
  const double distance = deviation * std::sqrt((n - 1) / n);
  for (std::size_t i = 0; i < count; ++i) values.push_back(at + (i % 2 == 0 ? 1 : -1) * distance);
  return values;
}

double deviation_of(const RepeatNoise& noise) {
  return std::sqrt(noise.squares / noise.degrees_of_freedom);
}

TEST(RepeatNoise, IsTheDeviationOfTheRuns) {
  const RepeatNoise noise = noise_of_repeats(level(6, 1.5, 0.003));
  EXPECT_EQ(noise.run_count, 6);
  EXPECT_EQ(noise.degrees_of_freedom, 5);
  EXPECT_NEAR(deviation_of(noise), 0.003, 1e-9);
}

TEST(RepeatNoise, IsNoneOfFewerThanTwo) {
  EXPECT_EQ(noise_of_repeats({}).degrees_of_freedom, 0);
  EXPECT_EQ(noise_of_repeats(std::array{1.0}).degrees_of_freedom, 0);
  const std::array none = {noise_of_repeats(std::array{1.0})};
  EXPECT_EQ(with_repeats(public_run_noise(), none), public_run_noise());
}

TEST(RepeatNoise, IsNeverNothing) {
  EXPECT_DOUBLE_EQ(deviation_of(noise_of_repeats(std::vector<double>(5, 2.0))), kRunStddevMin);
}

TEST(RepeatNoise, LeavesOutThatALevelChanged) {
  std::vector<double> values = level(10, 1.50, 0.001);
  const std::vector<double> later = level(10, 1.55, 0.001);
  values.insert(values.end(), later.begin(), later.end());
  const RepeatNoise noise = noise_of_repeats(values);
  EXPECT_EQ(noise.degrees_of_freedom, 18);
  EXPECT_NEAR(deviation_of(noise), 0.001, 1e-4);
}

TEST(RepeatNoise, LeavesOutThatTheLevelOfAFewRunsChanged) {
  std::vector<double> values;
  for (const double step_time_s : {3.93, 3.90, 3.90, 3.93, 4.22, 4.20, 4.19, 4.22}) {
    values.push_back(std::log(step_time_s));
  }
  const RepeatNoise noise = noise_of_repeats(values);
  EXPECT_EQ(noise.degrees_of_freedom, 6);
  EXPECT_LT(deviation_of(noise), 0.005);
}

TEST(RepeatNoise, LeavesOutThatALevelDrifts) {
  std::vector<double> values = level(20, 1.5, 0.0007);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.003 * static_cast<double>(i);
  const RepeatNoise noise = noise_of_repeats(values);
  EXPECT_EQ(noise.degrees_of_freedom, 18);
  EXPECT_NEAR(deviation_of(noise), 0.0007, 1e-4);
}

// The runs between them are those that are compared.
TEST(RepeatNoise, TakesADriftByThePlacesOfTheRuns) {
  std::vector<double> values = level(14, 1.5, 0.0007);
  std::vector<double> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    places.push_back(static_cast<double>(i < 7 ? i : i + 6));
    values[i] += 0.003 * places[i];
  }
  EXPECT_LT(deviation_of(noise_of_repeats(values, places)), 0.001);
  EXPECT_GT(deviation_of(noise_of_repeats(values)), 0.003);
}

TEST(RepeatNoise, BoundsAnOddRun) {
  std::vector<double> values = level(20, 1.5, 0.001);
  const double without = deviation_of(noise_of_repeats(values));
  values[7] += 0.2;
  const double with = deviation_of(noise_of_repeats(values));
  EXPECT_GT(with, 1.1 * without);
  EXPECT_LT(with, 2 * without);
}

TEST(RepeatNoise, TakesTheNewestRuns) {
  std::vector<double> values = level(100, 9, 0.5);
  const std::vector<double> newest = level(kRepeatsMax, 1.5, 0.001);
  values.insert(values.end(), newest.begin(), newest.end());
  EXPECT_EQ(noise_of_repeats(values).run_count, static_cast<std::int64_t>(kRepeatsMax));
  EXPECT_NEAR(deviation_of(noise_of_repeats(values)), 0.001, 1e-9);
}

TEST(RepeatNoise, IsAddedToThePriorByItsWeight) {
  RunNoise prior = public_run_noise();
  prior.stddev = 0.01;
  prior.degrees_of_freedom = 2;
  const std::array repeats = {noise_of_repeats(level(10, 1.5, 0.001)),
                              noise_of_repeats(level(6, 3.5, 0.002))};
  const RunNoise noise = with_repeats(prior, repeats);
  EXPECT_EQ(noise.stddev, prior.stddev);
  EXPECT_EQ(noise.degrees_of_freedom, 2);
  const KnownVariance known = known_variance(noise, 0, 0);
  EXPECT_DOUBLE_EQ(known.degrees_of_freedom, 2 + kRepeatWeight * (9 + 5));
  EXPECT_NEAR(known.stddev * known.stddev,
              (2 * 1e-4 + kRepeatWeight * (9 * 1e-6 + 5 * 4e-6)) / known.degrees_of_freedom, 1e-12);
  EXPECT_EQ(noise.repeat_count, 16);
  EXPECT_EQ(noise.source, "16 repeats and of public runs");
}

}  // namespace
}  // namespace llmb::parser
