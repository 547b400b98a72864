// Between the fused projection, whose rows hold for every key/value group its query heads, its key
// and its value, and the q, k, v that attention takes: split, with q and k turned by RoPE, and the
// way back for gradients. One pass; T: float or Bf16. Pairs (i, i + r/2) of the first r features
// of a head turn. Source: Su et al. 2021, in the half-split order.
#pragma once

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Rows are (position, sample), the sample quickest.
struct QkvShape {
  std::int64_t batch = 1;        // samples
  std::int64_t group_count = 0;  // of k and v
  std::int64_t heads_per_group = 0;
  std::int64_t head_size = 0;
};

// Moves 2 n (heads + 2 groups) d elements.
template <typename T>
struct QkvRopeForward {
  QkvShape shape;
  Matrix<const T> qkv;        // (n, groups * (heads_per_group + 2) * d)
  Matrix<const float> table;  // (n / batch, r): cosines, then sines; r 0: nothing turns
  Matrix<T> q;                // (n, heads * d)
  Matrix<T> k;                // (n, groups * d)
  Matrix<T> v;                // (n, groups * d)
};
template <typename T>
void qkv_rope_forward(const QkvRopeForward<T>& operands, Stream stream);

// dq, dk, dv -> dqkv, turned back.
template <typename T>
struct QkvRopeBackward {
  QkvShape shape;
  Matrix<const T> dq, dk, dv;
  Matrix<const float> table;
  Matrix<T> dqkv;
};
template <typename T>
void qkv_rope_backward(const QkvRopeBackward<T>& operands, Stream stream);

// positions (s) -> table (s, r), in double precision: frequencies (r / 2) are radians per position.
struct RopeTable {
  const std::int32_t* positions;
  const double* frequencies;
  Matrix<float> table;
};
void make_rope_table(const RopeTable& operands, Stream stream);

}  // namespace llmb::runner::kernels
