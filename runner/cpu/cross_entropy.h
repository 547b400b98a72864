// Cross-entropy of the next token over a vocabulary of which each tensor-parallel rank has a
// slice. In order: local_max, all-reduce (max) of maxima, local_sums, all-reduce (sum) of sums,
// losses; then backward, which needs no more of the others.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct CrossEntropy {
  // logits (n, v) -> maxima (n)
  static void local_max(View<const T> logits, std::span<T> maxima);
  // This rank has tokens [first_token, first_token + v). -> sums (n, 2): sum of
  // exp(logit - maximum), and target's logit - maximum, which is zero where another rank has it
  static void local_sums(View<const T> logits, std::span<const T> maxima,
                         std::span<const std::int64_t> targets, std::int64_t first_token,
                         View<T> sums);
  // -> losses (n): -log softmax(target)
  static void losses(View<const T> sums, std::span<T> losses);
  // logits (n, v) become dlogits: scale (softmax - one of target)
  static void backward(View<T> logits, std::span<const T> maxima, View<const T> sums,
                       std::span<const std::int64_t> targets, std::int64_t first_token, T scale);
};

}  // namespace llmb::runner::cpu
