#include "parser/statistics/window_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace llmb::parser {
namespace {

TEST(WindowStatistics, AreAbsentWithoutValues) {
  EXPECT_FALSE(compute_window_statistics({}));
}

TEST(WindowStatistics, OfOneValueHaveNoDeviation) {
  const std::vector<double> values = {7.382};
  EXPECT_EQ(compute_window_statistics(values).value(),
            (WindowStatistics{1, 7.382, 0, 0, 7.382, 7.382, 7.382, 7.382}));
}

TEST(WindowStatistics, AreThoseOfAHandWorkedExample) {
  // Sum of squares about the mean 5 is 32: population sqrt(32/8), sample sqrt(32/7).
  const std::vector<double> values = {9, 2, 4, 4, 5, 7, 4, 5};
  const WindowStatistics statistics = compute_window_statistics(values).value();
  EXPECT_EQ(statistics.count, 8);
  EXPECT_DOUBLE_EQ(statistics.mean, 5);
  EXPECT_DOUBLE_EQ(statistics.stddev_population, 2);
  EXPECT_DOUBLE_EQ(statistics.stddev_sample, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(statistics.median, 4.5);
  EXPECT_DOUBLE_EQ(statistics.min, 2);
  EXPECT_DOUBLE_EQ(statistics.max, 9);
  // Rank 0.95 * 7 = 6.65 between the seventh (7) and the eighth (9).
  EXPECT_DOUBLE_EQ(statistics.p95, 7 + 0.65 * 2);
}

TEST(WindowStatistics, KeepTheirDigitsWhereTheMeanIsHugeAgainstTheDeviation) {
  // The textbook sum of squares minus the squared sum loses every digit here.
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  const WindowStatistics statistics = compute_window_statistics(values).value();
  EXPECT_DOUBLE_EQ(statistics.mean, 1e9 + 10);
  EXPECT_DOUBLE_EQ(statistics.stddev_sample, std::sqrt(30.0));
  EXPECT_DOUBLE_EQ(statistics.stddev_population, std::sqrt(22.5));
}

TEST(WindowStatistics, OfEqualValuesAreExactlyThatValue) {
  const std::vector<double> values(34, 0.1);
  const WindowStatistics statistics = compute_window_statistics(values).value();
  EXPECT_EQ(statistics.mean, 0.1);
  EXPECT_EQ(statistics.stddev_population, 0);
  EXPECT_EQ(statistics.stddev_sample, 0);
  EXPECT_EQ(statistics.p95, 0.1);
}

TEST(WindowStatistics, TakeTheNinetyFifthPercentileBetweenRanks) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  EXPECT_DOUBLE_EQ(compute_window_statistics(values)->p95, 95);
  values = {1, 2};
  EXPECT_DOUBLE_EQ(compute_window_statistics(values)->p95, 1.95);
}

}  // namespace
}  // namespace llmb::parser
