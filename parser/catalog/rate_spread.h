// How the rates of steps can be spread whose times are: rates are one constant over the times.
#pragma once

#include <cstdint>

#include "parser/catalog/arithmetic.h"

namespace llmb::parser {

struct RateSpread {
  double mean_factor = 1;  // the mean rate is at most so many times the rate of the mean time
  Interval deviation;      // relative standard deviation of the rates: least, likely, most
};

// Of `step_count` times with that relative standard deviation, by the two shapes that are furthest
// apart: all times alike but one, which is faster (rates spread most), or slower (least).
RateSpread rate_spread(const Interval& time_deviation, std::int64_t step_count);

}  // namespace llmb::parser
