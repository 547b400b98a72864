#include "runner/cpu/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>

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

}  // namespace llmb::runner::cpu
