// Causal attention with grouped queries, tile by tile, so that the scores of a sequence never
// exist: the fallback where cuDNN's graph does not serve, and its cross-check. Products are plain
// fp32 arithmetic, not the tensor cores': a tenth of cuDNN's speed at best. Queries are any subset
// of the sequence's positions (an early and a late piece), keys and values all of it, in order.
// T: float or Bf16, which rounds probabilities and their gradients to BF16 before the products.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

inline constexpr std::int64_t kHeadSizeMax = 256;

// Rows of every matrix are (position, sample), the sample quickest; columns (head, feature).
struct AttentionShape {
  std::int64_t batch = 1;        // samples
  std::int64_t head_count = 0;   // of q and o
  std::int64_t group_count = 0;  // of k and v; divides head_count
  std::int64_t head_size = 0;    // at most 256
  // Above 0, the sequence falls into chunks of so many positions, and a query sees its own only.
  std::int64_t chunk_size = 0;
  const std::int32_t* query_positions = nullptr;  // (sq), on the device
  std::int64_t query_count = 0;                   // sq
};

// Throws std::invalid_argument where the head is too large, here and in backward.
template <typename T>
struct AttentionForward {
  AttentionShape shape;
  Matrix<const T> q;  // (sq b, heads d)
  Matrix<const T> k;  // (sk b, groups d)
  Matrix<const T> v;  // as k
  Matrix<T> o;        // as q
  float* log_sums;    // (sq b, heads): log of the sum of exp(score)
};
template <typename T>
void attention_forward(const AttentionForward<T>& operands, Stream stream);

// dk and dv are this rank's queries' part. Every sum is one thread's, in the order of the sequence.
template <typename T>
struct AttentionBackward {
  AttentionShape shape;
  Matrix<const T> q, k, v, o;
  const float* log_sums;
  Matrix<const T> d_o;
  Matrix<T> dq, dk, dv;  // overwritten
  float* dots;           // (sq b, heads): workspace, d_o . o
};
template <typename T>
void attention_backward(const AttentionBackward<T>& operands, Stream stream);

}  // namespace llmb::runner::kernels
