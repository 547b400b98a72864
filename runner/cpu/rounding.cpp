#include "runner/cpu/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace llmb::runner::cpu {
namespace {

struct Layout {
  int mantissa_bits;
  int bias;
  float max;
};

Layout layout_of(Fp8Format format) {
  return format == Fp8Format::e4m3 ? Layout{3, 7, 448.0F} : Layout{2, 15, 57344.0F};
}

}  // namespace

std::uint16_t encode_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);  // keeps it quiet
  // Adding half of the last kept bit, less one where that bit is even, carries exactly when
  // rounding up is right; a carry out of the mantissa is the next exponent, up to infinity.
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float decode_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float round_to_bf16(float value) {
  return decode_bf16(encode_bf16(value));
}

float fp8_max(Fp8Format format) {
  return layout_of(format).max;
}

float round_to_fp8(float value, Fp8Format format) {
  const Layout layout = layout_of(format);
  if (std::isnan(value)) return value;
  if (std::fabs(value) >= layout.max) return std::copysign(layout.max, value);
  // Subnormals share the smallest exponent, so the spacing never falls below theirs.
  const int exponent =
      value == 0.0F ? 1 - layout.bias : std::max(std::ilogb(value), 1 - layout.bias);
  const double spacing = std::ldexp(1.0, exponent - layout.mantissa_bits);
  const double rounded = std::nearbyint(static_cast<double>(value) / spacing) * spacing;
  return std::copysign(static_cast<float>(rounded), value);
}

std::uint8_t encode_fp8(float value, Fp8Format format) {
  const Layout layout = layout_of(format);
  const unsigned sign = std::signbit(value) ? 0x80U : 0U;
  if (std::isnan(value)) return static_cast<std::uint8_t>(sign | 0x7fU);
  const float magnitude = std::fabs(round_to_fp8(value, format));
  const int exponent =
      magnitude == 0.0F ? 1 - layout.bias : std::max(std::ilogb(magnitude), 1 - layout.bias);
  const auto steps = static_cast<unsigned>(
      std::ldexp(static_cast<double>(magnitude), layout.mantissa_bits - exponent));
  // A normal number's steps include its leading one, which the exponent field counts as well.
  const unsigned field = static_cast<unsigned>(exponent + layout.bias - 1);
  return static_cast<std::uint8_t>(sign | ((field << layout.mantissa_bits) + steps));
}

float decode_fp8(std::uint8_t bits, Fp8Format format) {
  const Layout layout = layout_of(format);
  const unsigned magnitude = bits & 0x7fU;
  const float sign = (bits & 0x80U) != 0 ? -1.0F : 1.0F;
  const unsigned infinity = 0x1fU << 2;  // of E5M2; beyond it, NaN
  if (format == Fp8Format::e5m2 && magnitude == infinity) {
    return sign * std::numeric_limits<float>::infinity();
  }
  if (magnitude == 0x7fU || (format == Fp8Format::e5m2 && magnitude > infinity)) {
    return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
  }
  const unsigned mantissa = magnitude & ((1U << layout.mantissa_bits) - 1);
  const int field = static_cast<int>(magnitude >> layout.mantissa_bits);
  const double fraction = std::ldexp(static_cast<double>(mantissa), -layout.mantissa_bits);
  const double value = field == 0 ? std::ldexp(fraction, 1 - layout.bias)
                                  : std::ldexp(1 + fraction, field - layout.bias);
  return sign * static_cast<float>(value);
}

}  // namespace llmb::runner::cpu
