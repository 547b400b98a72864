// The smallest operations: fill, y = factor x (+ z), which is copy, cast, scale and residual sum in
// one, and totals of a few values. T, In, Out: float or Bf16; sums are in double precision.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Writes y.size() elements.
template <typename T>
void fill(float value, Matrix<T> y, Stream stream);

// y = factor x + addend, rounded once. Moves 2 elements of each pair, 3 where it adds.
template <typename In, typename Out>
struct ScaledCopy {
  Matrix<const In> x;
  Matrix<Out> y;  // as x; may be x
  float factor = 1;
  const float* device_factor = nullptr;  // multiplies `factor`, read on the device; or absent
  Matrix<const Out> addend = {};         // as y; may be y, or absent
};
template <typename In, typename Out>
void scaled_copy(const ScaledCopy<In, Out>& operands, Stream stream);

// *total = the sum of x, or += it. One block: for losses and partial sums.
template <typename T>
void sum_values(const T* x, std::int64_t count, double* total, bool adds, Stream stream);

}  // namespace llmb::runner::kernels
