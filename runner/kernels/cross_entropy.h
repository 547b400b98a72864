// Cross-entropy of the next token over a vocabulary of which each tensor-parallel rank has a slice.
// Logits may be any block of rows (a chunk), of float or Bf16; statistics and losses are fp32.
// Alone: cross_entropy_fused. Over ranks: cross_entropy_statistics, all-reduce (max) of maxima,
// cross_entropy_rebase, all-reduce (sum) of sums, cross_entropy_losses; then backward.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// This rank has tokens [first_token, first_token + v).
struct Targets {
  const std::int32_t* tokens;  // (n)
  std::int64_t first_token = 0;
};

// Reads n v elements, once.
template <typename T>
struct CrossEntropyStatistics {
  Matrix<const T> logits;  // (n, v)
  float* local_maxima;     // (n): of this rank
  float* local_sums;       // (n): sum of exp(logit - local maximum)
  float* maxima;           // (n): the same as local_maxima, for the all-reduce
};
template <typename T>
void cross_entropy_statistics(const CrossEntropyStatistics<T>& operands, Stream stream);

// To the maxima over all ranks. Moves a few numbers a row.
template <typename T>
struct CrossEntropyRebase {
  Matrix<const T> logits;
  Targets targets;
  const float* local_maxima;
  const float* local_sums;
  const float* maxima;  // (n): over all ranks
  // (n, 2): sum of exp(logit - maximum), and target's logit - maximum, which is zero where another
  // rank has it
  float* sums;
};
template <typename T>
void cross_entropy_rebase(const CrossEntropyRebase<T>& operands, Stream stream);

// sums (n, 2) over all ranks -> losses (n): -log softmax(target)
void cross_entropy_losses(const float* sums, std::int64_t rows, float* losses, Stream stream);

// Moves 2 n v elements: logits become dlogits = scale (softmax - one of target).
template <typename T>
struct CrossEntropyBackward {
  Matrix<T> logits;
  Targets targets;
  const float* maxima;
  const float* sums;
  const float* scale;  // on the device
};
template <typename T>
void cross_entropy_backward(const CrossEntropyBackward<T>& operands, Stream stream);

// The whole vocabulary is here: losses and dlogits at once. Moves 2 n v elements, and n v once more
// from the cache.
template <typename T>
struct CrossEntropyFused {
  Matrix<T> logits;
  const std::int32_t* targets;
  const float* scale;  // on the device
  float* losses;       // (n)
};
template <typename T>
void cross_entropy_fused(const CrossEntropyFused<T>& operands, Stream stream);

}  // namespace llmb::runner::kernels
