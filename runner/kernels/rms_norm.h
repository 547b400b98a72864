// RMSNorm over the features of each token, with the residual sum before it: y = w s / rms(s),
// s = x + branch. Statistics and the weight's gradient are fp32. T: float or Bf16. Backward also
// adds the gradient that goes past the norm. Source: Zhang and Sennrich 2019.
#pragma once

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Moves 2 n h elements, with a branch 4 n h (reads x and branch, writes sum and y).
template <typename T>
struct RmsNormForward {
  Matrix<const T> x;       // (n, h)
  Matrix<const T> branch;  // (n, h), added to x; or absent
  const T* weight;         // (h)
  float epsilon;
  Matrix<T> sum;  // (n, h): x + branch as T keeps it; may be x; absent without a branch
  Matrix<T> y;    // (n, h)
  float* scale;   // (n): 1 / sqrt(mean(s^2) + epsilon)
};
template <typename T>
void rms_norm_forward(const RmsNormForward<T>& operands, Stream stream);

// Moves 3 n h elements, with a bypass 4 n h, and 8 p h bytes of partial sums, p = partial_rows(n).
template <typename T>
struct RmsNormBackward {
  Matrix<const T> x;  // (n, h): what was normalized
  const T* weight;    // (h)
  const float* scale;
  Matrix<const T> dy;      // (n, h)
  Matrix<const T> bypass;  // (n, h), added to dx; or absent
  Matrix<T> dx;            // (n, h), overwritten; may be bypass or dy
  float* dweight;          // (h), added to
  float* partials;         // (partial_rows(n), h): workspace
};
template <typename T>
void rms_norm_backward(const RmsNormBackward<T>& operands, Stream stream);

}  // namespace llmb::runner::kernels
