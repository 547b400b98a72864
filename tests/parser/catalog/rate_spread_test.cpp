// The bounds against spreads of times that were drawn, and against the shapes that reach them.
#include "parser/catalog/rate_spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace llmb::parser {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;  // relative
};

Moments moments_of(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / static_cast<double>(values.size())) / mean};
}

std::vector<double> rates_of(const std::vector<double>& times) {
  std::vector<double> rates;
  for (const double time : times) rates.push_back(1 / time);
  return rates;
}

TEST(RateSpread, HoldsForAnyTimes) {
  std::mt19937 engine(7);
  std::exponential_distribution<double> skewed(1);
  std::uniform_real_distribution<double> even(0, 1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> times;
    for (int i = 0; i < 10; ++i) {
      const double off = round % 3 == 0   ? skewed(engine)
                         : round % 3 == 1 ? -skewed(engine)
                                          : even(engine);
      times.push_back(6 + 0.2 * off);
    }
    const Moments time = moments_of(times);
    const Moments rate = moments_of(rates_of(times));
    const RateSpread bound = rate_spread(Interval::exact(time.deviation), 10);
    EXPECT_LE(rate.deviation, bound.deviation.high * (1 + 1e-9));
    EXPECT_GE(rate.deviation, bound.deviation.low * (1 - 1e-9));
    EXPECT_LE(rate.mean * time.mean, bound.mean_factor * (1 + 1e-9));
  }
}

TEST(RateSpread, IsReachedByOneTimeThatIsFasterOrSlower) {
  for (const double one : {5.5, 6.5}) {
    std::vector<double> times(10, 6.0);
    times.front() = one;
    const Moments time = moments_of(times);
    const Moments rate = moments_of(rates_of(times));
    const RateSpread bound = rate_spread(Interval::exact(time.deviation), 10);
    EXPECT_NEAR(rate.deviation, one < 6 ? bound.deviation.high : bound.deviation.low, 1e-12);
  }
}

TEST(RateSpread, BoundsNothingWhereATimeMayBeZero) {
  EXPECT_TRUE(std::isinf(rate_spread(Interval::exact(0.4), 10).deviation.high));
  EXPECT_TRUE(std::isinf(rate_spread(Interval::exact(0.01), 1).deviation.high));
}

}  // namespace
}  // namespace llmb::parser
