// Rounding to FP8 the slow way: by trying every number that the format has.
#pragma once

#include <cmath>
#include <limits>

#include "runner/cpu/rounding.h"

namespace llmb::runner::testing {

// The nearest of all numbers of the format, the even code where two are as near.
inline double nearest_fp8(double value, cpu::Fp8Format format) {
  double best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  int best_code = 0;
  for (int code = 0; code < 256; ++code) {
    const double candidate = cpu::decode_fp8(static_cast<std::uint8_t>(code), format);
    if (!std::isfinite(candidate)) continue;
    const double distance = std::fabs(candidate - value);
    const bool is_even_tie = distance == best_distance && code % 2 == 0 && best_code % 2 != 0;
    if (distance > best_distance || (distance == best_distance && !is_even_tie)) continue;
    best = candidate;
    best_distance = distance;
    best_code = code;
  }
  return best;
}

}  // namespace llmb::runner::testing
