// Bf16, Fp8E4m3, Fp8E5m2: the narrow numbers as they lie in memory, and their conversions, which
// round to nearest, ties to even; FP8 saturates. Device code uses the hardware's conversions, the
// host computes the same bits (runner/cpu/rounding.h is the oracle).
// Source: OCP 8-bit Floating Point Specification 1.0.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runner/kernels/portable.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#endif

namespace llmb::runner::kernels {

struct Bf16 {
  std::uint16_t bits;
};
struct Fp8E4m3 {
  std::uint8_t bits;
};
struct Fp8E5m2 {
  std::uint8_t bits;
};

template <typename T>
inline constexpr float kFp8Max = 0;
template <>
inline constexpr float kFp8Max<Fp8E4m3> = 448.0F;
template <>
inline constexpr float kFp8Max<Fp8E5m2> = 57344.0F;

template <typename T>
inline constexpr bool kIsFp8 = std::is_same_v<T, Fp8E4m3> || std::is_same_v<T, Fp8E5m2>;

namespace detail {

inline std::uint16_t encode_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return 0x7fff;  // the one NaN that the hardware gives
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

// `kMantissa` bits after the point, exponents from 1 - kBias, largest finite number kMaxBits.
template <int kMantissa, int kBias, std::uint8_t kMaxBits, std::uint8_t kNan>
std::uint8_t encode_fp8(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint8_t>(bits >> 24 & 0x80U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return kNan;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  // Bits of the significand to drop: more below the smallest normal number.
  const int below = exponent < 1 - kBias ? 1 - kBias - exponent : 0;
  const int dropped = 23 - kMantissa + below;
  if (dropped > 24) return sign;
  const std::uint32_t significand = (magnitude & 0x7fffffU) | 0x800000U;
  const std::uint32_t half = 1U << static_cast<unsigned>(dropped - 1);
  std::uint32_t kept = significand >> static_cast<unsigned>(dropped);
  const std::uint32_t rest = significand - (kept << static_cast<unsigned>(dropped));
  if (rest > half || (rest == half && (kept & 1U) != 0)) ++kept;
  // The leading one is the exponent's lowest step, so a carry out of the significand is right too.
  const int steps = below > 0 ? 0 : exponent + kBias - 1;
  const std::uint32_t code = kept + (static_cast<std::uint32_t>(steps) << kMantissa);
  return static_cast<std::uint8_t>(sign | (code > kMaxBits ? kMaxBits : code));
}

template <int kMantissa, int kBias>
float decode_fp8(std::uint8_t code) {
  const int exponent = (code & 0x7f) >> kMantissa;
  const int mantissa = code & ((1 << kMantissa) - 1);
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << kMantissa);
  const int power = (exponent == 0 ? 1 : exponent) - kBias - kMantissa;
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
  const float magnitude = static_cast<float>(significand) * scale;
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

}  // namespace detail

LLMB_BOTH inline float to_float(float value) {
  return value;
}
LLMB_BOTH inline float to_float(Bf16 value) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
#else
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
#endif
}
// Host only: decoding is for tests and checkpoints.
inline float to_float(Fp8E4m3 value) {
  if ((value.bits & 0x7f) == 0x7f) return std::bit_cast<float>(0x7fc00000U);
  return detail::decode_fp8<3, 7>(value.bits);
}
inline float to_float(Fp8E5m2 value) {
  if ((value.bits & 0x7f) > 0x7c) return std::bit_cast<float>(0x7fc00000U);
  return detail::decode_fp8<2, 15>(value.bits);
}

template <typename T>
LLMB_BOTH T from_float(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, Bf16>) {
#if defined(__CUDA_ARCH__)
    return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
#else
    return {detail::encode_bf16(value)};
#endif
  } else if constexpr (std::is_same_v<T, Fp8E4m3>) {
#if defined(__CUDA_ARCH__)
    return {static_cast<std::uint8_t>(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3))};
#else
    return {detail::encode_fp8<3, 7, 0x7e, 0x7f>(value)};
#endif
  } else {
    static_assert(std::is_same_v<T, Fp8E5m2>);
#if defined(__CUDA_ARCH__)
    return {static_cast<std::uint8_t>(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2))};
#else
    return {detail::encode_fp8<2, 15, 0x7b, 0x7f>(value)};
#endif
  }
}

// What T keeps of a number.
template <typename T>
LLMB_BOTH float rounded(float value) {
  return to_float(from_float<T>(value));
}

}  // namespace llmb::runner::kernels
