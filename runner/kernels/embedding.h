// The embedding table, or one rank's rows of it: tokens that are another rank's give zeros, so that
// the sum over the ranks is the embedding. T: float or Bf16; the table's gradient is fp32.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Moves 2 n h elements.
template <typename T>
struct EmbeddingForward {
  const std::int32_t* tokens;  // (n)
  std::int64_t first_token;
  Matrix<const T> table;  // (v, h): rows of tokens [first_token, first_token + v)
  Matrix<T> y;            // (n, h)
};
template <typename T>
void embedding_forward(const EmbeddingForward<T>& operands, Stream stream);

// Gradients of one token are added in the order of its occurrences, by the block of the first one,
// which finds the next by a list: no atomics, and the same bits in every run. Moves n h elements,
// 8 bytes of every table row that occurs, and 2 n^2 bytes of tokens from the cache.
template <typename T>
struct EmbeddingBackward {
  const std::int32_t* tokens;  // (n)
  std::int64_t first_token;
  Matrix<const T> dy;      // (n, h)
  Matrix<float> dtable;    // (v, h), added to
  std::int32_t* next;      // (n): workspace, where a token occurs next
  std::int32_t* is_later;  // (n): workspace, whether it occurred before
};
template <typename T>
void embedding_backward(const EmbeddingBackward<T>& operands, Stream stream);

}  // namespace llmb::runner::kernels
