// LayerNorm1p over the features of each token, with the residual sum before it:
// y = (1 + w) (s - mean) / std + b, s = x + branch. Statistics and the parameters' gradients are
// fp32. T: float or Bf16. Source: Megatron-LM's layernorm_zero_centered_gamma.
#pragma once

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Moves 2 n h elements, with a branch 4 n h.
template <typename T>
struct LayerNorm1pForward {
  Matrix<const T> x;       // (n, h)
  Matrix<const T> branch;  // (n, h), added to x; or absent
  const T* weight;         // (h)
  const T* bias;           // (h)
  float epsilon;
  Matrix<T> sum;      // (n, h): x + branch as T keeps it; may be x; absent without a branch
  Matrix<T> y;        // (n, h)
  float* statistics;  // (n, 2): mean, 1 / std
};
template <typename T>
void layer_norm_1p_forward(const LayerNorm1pForward<T>& operands, Stream stream);

// Moves 3 n h elements, with a bypass 4 n h, and 16 p h bytes of partial sums, p = partial_rows(n).
template <typename T>
struct LayerNorm1pBackward {
  Matrix<const T> x;  // (n, h): what was normalized
  const T* weight;    // (h)
  const float* statistics;
  Matrix<const T> dy;      // (n, h)
  Matrix<const T> bypass;  // (n, h), added to dx; or absent
  Matrix<T> dx;            // (n, h), overwritten; may be bypass or dy
  float* dweight;          // (h), added to
  float* dbias;            // (h), added to
  float* partials;         // (2 partial_rows(n), h): workspace
};
template <typename T>
void layer_norm_1p_backward(const LayerNorm1pBackward<T>& operands, Stream stream);

}  // namespace llmb::runner::kernels
