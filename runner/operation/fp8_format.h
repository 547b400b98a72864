// Fp8Format: the two narrow formats of eight bits, the scale that fits numbers into them, and which
// devices multiply blocks of them.
// Source: OCP 8-bit Floating Point Specification 1.0.
#pragma once

#include <cmath>

namespace llmb::runner {

enum class Fp8Format { e4m3, e5m2 };

// Largest finite value.
constexpr float fp8_max(Fp8Format format) {
  return format == Fp8Format::e4m3 ? 448.0F : 57344.0F;
}

// What brings the largest element to the format's maximum; 1 where there is nothing to scale.
inline double fp8_scale(double largest, Fp8Format format) {
  const bool is_usable = largest > 0 && std::isfinite(largest);
  return is_usable ? static_cast<double>(fp8_max(format)) / largest : 1;
}

// Compute capability of the first devices whose tensor cores take MXFP8: Blackwell.
inline constexpr int kFirstWithMxfp8 = 100;

}  // namespace llmb::runner
