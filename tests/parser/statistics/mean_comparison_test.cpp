#include "parser/statistics/mean_comparison.h"

#include <gmock/gmock.h>

#include <cmath>

namespace llmb::parser {
namespace {

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

TEST(Holm, RaisesPValuesInOrder) {
  const std::vector<std::optional<double>> p = {0.01, std::nullopt, 0.04, 0.03, 0.9};
  const auto adjusted = holm_adjusted(p);
  EXPECT_NEAR(*adjusted[0], 0.04, 1e-12);
  EXPECT_FALSE(adjusted[1]);
  EXPECT_NEAR(*adjusted[3], 0.09, 1e-12);  // 3 * 0.03
  EXPECT_NEAR(*adjusted[2], 0.09, 1e-12);  // 2 * 0.04 is less than the one before it
  EXPECT_NEAR(*adjusted[4], 0.9, 1e-12);
}

}  // namespace
}  // namespace llmb::parser
