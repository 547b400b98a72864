#include "parser/catalog/rate_spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmb::parser {
namespace {

struct RatesOfTwoTimes {
  double mean = 1;
  double deviation = 0;
};

// All times alike but one; the times' mean is 1, and `deviation` under 0 makes the one the slower.
RatesOfTwoTimes rates_with_one_faster(double deviation, double count) {
  const double other_rate = 1 / (1 + deviation / std::sqrt(count - 1));
  const double one_rate = 1 / (1 - deviation * std::sqrt(count - 1));
  const double mean = (one_rate + (count - 1) * other_rate) / count;
  return {mean, std::abs(one_rate - other_rate) * std::sqrt(count - 1) / count / mean};
}

}  // namespace

RateSpread rate_spread(const Interval& time_deviation, std::int64_t step_count) {
  const auto count = static_cast<double>(step_count);
  // A time of 0 or less: no bound.
  if (step_count < 2 || time_deviation.high * std::sqrt(count - 1) >= 1) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return {kNone, {0, time_deviation.value, kNone}};
  }
  const RatesOfTwoTimes most = rates_with_one_faster(time_deviation.high, count);
  const RatesOfTwoTimes least = rates_with_one_faster(-std::max(time_deviation.low, 0.0), count);
  return {most.mean, {least.deviation, time_deviation.value, most.deviation}};
}

}  // namespace llmb::parser
