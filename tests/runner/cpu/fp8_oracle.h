// Rounding to FP8 the slow way: by trying every number that the format has.
#pragma once

#include <cmath>
#include <limits>

#include "runner/cpu/rounding.h"

namespace llmb::runner::testing {

// What a code without its sign stands for, worked out from the specification; the largest finite
// one is 0x7e of E4M3 and 0x7b of E5M2.
inline double fp8_value(int code, cpu::Fp8Format format) {
  const int mantissa_bits = format == cpu::Fp8Format::e4m3 ? 3 : 2;
  const int bias = format == cpu::Fp8Format::e4m3 ? 7 : 15;
  const int exponent = code >> mantissa_bits;
  const double fraction = std::ldexp(code % (1 << mantissa_bits), -mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

// The nearest of all numbers of the format, the even code where two are as near.
inline double nearest_fp8(double value, cpu::Fp8Format format) {
  const int largest = format == cpu::Fp8Format::e4m3 ? 0x7e : 0x7b;
  double best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  for (int code = 0; code <= largest; ++code) {
    const double candidate = fp8_value(code, format);
    const double distance = std::fabs(candidate - std::fabs(value));
    if (distance > best_distance || (distance == best_distance && code % 2 != 0)) continue;
    best = candidate;
    best_distance = distance;
  }
  return std::copysign(best, value);
}

}  // namespace llmb::runner::testing
