// NumberType: the numbers that lie in device memory, by name, for calls whose operands are of a
// type that is known only when the program runs. kernels/number.h has the C++ types of the narrow
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runner/kernels/number.h"

namespace llmb::runner::cuda {

enum class NumberType : std::uint8_t {
  float32,
  float64,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  mxfp8,  // fp8_e4m3 in blocks of 32, whose scales lie elsewhere (kernels/mx_scales.h)
  int32,
  int64,
  byte
};

const char* name_of(NumberType type);  // "bf16"
std::size_t bytes_of(NumberType type);
bool is_fp8(NumberType type);  // any of the three

template <typename T>
constexpr NumberType number_type_of() {
  if constexpr (std::is_same_v<T, float>) return NumberType::float32;
  if constexpr (std::is_same_v<T, double>) return NumberType::float64;
  if constexpr (std::is_same_v<T, kernels::Bf16>) return NumberType::bf16;
  if constexpr (std::is_same_v<T, kernels::Fp8E4m3>) return NumberType::fp8_e4m3;
  if constexpr (std::is_same_v<T, kernels::Fp8E5m2>) return NumberType::fp8_e5m2;
  if constexpr (std::is_same_v<T, std::int32_t>) return NumberType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return NumberType::int64;
  return NumberType::byte;
}

}  // namespace llmb::runner::cuda
