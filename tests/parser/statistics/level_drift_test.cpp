#include "parser/statistics/level_drift.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "parser/statistics/change_points.h"
#include "tests/parser/statistics/made_series.h"

namespace llmb::parser {
namespace {

constexpr std::uint64_t kSeedOfDrifts = 20261130;

std::optional<LevelDrift> drift_in(const std::vector<double>& values, double deviation_min = 0) {
  std::vector<LinePoint> points;
  for (const double value : values) points.push_back({static_cast<double>(points.size()), value});
  return level_drift(points, change_points(values), deviation_min);
}

TEST(LevelDrift, IsToldByHowMuchAndFromWhereTo) {
  MadeSeries made(kSeedOfDrifts);
  for (const std::size_t count : {10, 20, 60}) {
    const double slope = 40.0 / static_cast<double>(count - 1);
    const auto drift = drift_in(made.ramp(count, slope, 0, count));
    ASSERT_TRUE(drift) << count;
    EXPECT_EQ(drift->begin, 0U);
    EXPECT_EQ(drift->end, count - 1);
    EXPECT_NEAR(drift->to.y - drift->from.y, 40, 4);
    EXPECT_NEAR(drift->at(drift->to.x), drift->to.y, 1e-9);
  }
  const auto falling = drift_in(made.ramp(20, -2, 0, 20));
  ASSERT_TRUE(falling);
  EXPECT_LT(falling->to.y, falling->from.y);
}

TEST(LevelDrift, BeginsAndEndsWhereItDoes) {
  MadeSeries made(kSeedOfDrifts);
  const auto late = drift_in(made.ramp(40, 3, 19, 40));
  ASSERT_TRUE(late);
  EXPECT_NEAR(static_cast<double>(late->begin), 19, 2);
  EXPECT_EQ(late->end, 39U);
  EXPECT_NEAR(late->to.y - late->from.y, 60, 5);
  const auto ended = drift_in(made.ramp(40, 3, 0, 24));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->begin, 0U);
  EXPECT_NEAR(static_cast<double>(ended->end), 24, 2);
}

TEST(LevelDrift, SaysWhereItsBeginningIsNotKnown) {
  MadeSeries made(kSeedOfDrifts);
  const auto cut = drift_in(made.ramp(kDriftValuesMax + 30, 1, 0, 1000));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->begin, 30U);
  EXPECT_TRUE(cut->may_begin_earlier);
  const auto whole = drift_in(made.ramp(kDriftValuesMax, 1, 0, 1000));
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->may_begin_earlier);
  const auto later = drift_in(made.ramp(kDriftValuesMax + 30, 1, 100, 1000));
  ASSERT_TRUE(later);
  EXPECT_FALSE(later->may_begin_earlier);
}

TEST(LevelDrift, IsNotMovedByAnOddValue) {
  MadeSeries made(kSeedOfDrifts);
  auto values = made.ramp(20, 2, 0, 20);
  values[18] += 200;
  const auto drift = drift_in(values);
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->to.y - drift->from.y, 38, 5);
  auto steady = made.noise(20);
  steady[18] += 200;
  EXPECT_FALSE(drift_in(steady));
}

// A change comes first, and the new level drifts.
TEST(LevelDrift, IsThatOfTheNewestLevel) {
  MadeSeries made(kSeedOfDrifts);
  auto values = made.ramp(40, 1, 20, 40);
  for (std::size_t i = 0; i < 20; ++i) values[i] += 60;
  const auto drift = drift_in(values);
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->level, 20U);
}

TEST(LevelDrift, IsNotALevelThatChanges) {
  MadeSeries made(kSeedOfDrifts);
  for (const double change : {10.0, 30.0}) {
    for (const std::size_t at : {4, 10, 15}) {
      auto values = made.noise(20);
      for (std::size_t i = at; i < values.size(); ++i) values[i] += change;
      EXPECT_FALSE(drift_in(values)) << change << " at " << at;
    }
  }
  auto stairs = made.noise(24);
  for (std::size_t i = 0; i < stairs.size(); ++i) stairs[i] += 20.0 * static_cast<double>(i / 8);
  EXPECT_FALSE(drift_in(stairs));
}

TEST(LevelDrift, IsNoneOfFewValuesOrWithinTheirRounding) {
  const std::vector<double> few = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_FALSE(drift_in(few));
  EXPECT_FALSE(drift_in({}));
  EXPECT_FALSE(drift_in(std::vector<double>(30, 2.5)));
  std::vector<double> creeping;
  for (int i = 0; i < 20; ++i) creeping.push_back(0.01 * i);
  EXPECT_TRUE(drift_in(creeping));
  EXPECT_FALSE(drift_in(creeping, 0.1));
}

TEST(LevelDrift, IsSeldomFoundWhereNothingDrifts) {
  constexpr int kSeries = 300;
  MadeSeries made(kSeedOfDrifts);
  for (const auto& [dependence, change, allowed] :
       {std::tuple{0.0, 0.0, 0.01}, std::tuple{0.5, 0.0, 0.02}, std::tuple{0.0, 5.0, 0.02},
        std::tuple{0.5, 5.0, 0.04}}) {
    for (const std::size_t count : {10, 15, 40}) {
      int found = 0;
      for (int i = 0; i < kSeries; ++i) {
        auto values = made.noise(count, dependence);
        for (std::size_t at = count / 2; at < count; ++at) values[at] += change;
        found += drift_in(values) ? 1 : 0;
      }
      EXPECT_LE(static_cast<double>(found) / kSeries, allowed)
          << count << " values, AR(1) " << dependence << ", a change by " << change;
    }
  }
}

}  // namespace
}  // namespace llmb::parser
