// The roundings against an oracle that lists every value of the format and takes the nearest.
#include "runner/cpu/rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace llmb::runner::cpu {
namespace {

struct Code {
  double value;
  unsigned bits;
};

// Every finite value from zero up; the value of each code is worked out from the specification.
std::vector<Code> positive_codes(int exponent_bits, int mantissa_bits, unsigned last_finite) {
  std::vector<Code> codes;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  for (unsigned bits = 0; bits <= last_finite; ++bits) {
    const int exponent = static_cast<int>(bits >> mantissa_bits);
    const double fraction =
        static_cast<double>(bits & ((1U << mantissa_bits) - 1)) / (1 << mantissa_bits);
    codes.push_back({exponent == 0 ? fraction * std::pow(2.0, 1 - bias)
                                   : (1 + fraction) * std::pow(2.0, exponent - bias),
                     bits});
  }
  return codes;
}

const Code& nearest(const std::vector<Code>& codes, double magnitude) {
  const auto above = std::lower_bound(codes.begin(), codes.end(), magnitude,
                                      [](const Code& code, double x) { return code.value < x; });
  if (above == codes.end()) return codes.back();
  if (above == codes.begin()) return *above;
  const auto below = above - 1;
  const double up = above->value - magnitude;
  const double down = magnitude - below->value;
  if (up != down) return up < down ? *above : *below;
  return above->bits % 2 == 0 ? *above : *below;
}

// Every value, every midpoint and their neighbours, and many others of all sizes.
std::vector<float> probes(const std::vector<Code>& codes) {
  std::vector<float> values;
  const auto add = [&](double x) {
    const float at = static_cast<float>(x);
    const float infinity = std::numeric_limits<float>::infinity();
    values.insert(values.end(), {at, std::nextafter(at, infinity), std::nextafter(at, -infinity)});
  };
  for (std::size_t i = 0; i < codes.size(); ++i) {
    add(codes[i].value);
    if (i + 1 < codes.size()) add((codes[i].value + codes[i + 1].value) / 2);
  }
  std::mt19937 engine(1);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()) & 0x7fffffffU);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

void expect_fp8(Fp8Format format, const std::vector<Code>& codes) {
  for (const float value : probes(codes)) {
    const double expected = std::copysign(nearest(codes, std::fabs(value)).value, value);
    ASSERT_EQ(round_to_fp8(value, format), expected) << value;
    ASSERT_EQ(round_to_fp8(-value, format), -expected) << -value;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_to_fp8(infinity, format), fp8_max(format));
  EXPECT_EQ(round_to_fp8(-infinity, format), -fp8_max(format));
  EXPECT_TRUE(std::isnan(round_to_fp8(std::nanf(""), format)));
  EXPECT_TRUE(std::signbit(round_to_fp8(-0.0F, format)));
}

TEST(Fp8Rounding, E4m3EqualsTheNearestOfAllCodes) {
  expect_fp8(Fp8Format::e4m3, positive_codes(4, 3, 0x7e));
  EXPECT_EQ(fp8_max(Fp8Format::e4m3), 448);
}

TEST(Fp8Rounding, E5m2EqualsTheNearestOfAllCodes) {
  expect_fp8(Fp8Format::e5m2, positive_codes(5, 2, 0x7b));
  EXPECT_EQ(fp8_max(Fp8Format::e5m2), 57344);
}

TEST(Bf16Rounding, EqualsTheNearestOfAllCodes) {
  const std::vector<Code> codes = positive_codes(8, 7, 0x7f7f);
  const double overflow = codes.back().value * (1 + 1.0 / 510);  // half a spacing above
  for (const float value : probes(codes)) {
    if (std::fabs(static_cast<double>(value)) >= overflow) continue;
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    ASSERT_EQ(encode_bf16(value), sign | nearest(codes, std::fabs(value)).bits) << value;
  }
  EXPECT_TRUE(std::isinf(round_to_bf16(std::numeric_limits<float>::max())));
  EXPECT_TRUE(std::isinf(round_to_bf16(static_cast<float>(overflow))));
  EXPECT_TRUE(std::isnan(round_to_bf16(std::nanf(""))));
  EXPECT_EQ(round_to_bf16(1.0F), 1.0F);
}

}  // namespace
}  // namespace llmb::runner::cpu
