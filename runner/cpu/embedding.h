// The embedding table, or one rank's rows of it: tokens that are another rank's give zeros, so
// that the sum over the ranks is the embedding.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct Embedding {
  // table (v, h): rows of tokens [first_token, first_token + v) -> y (tokens, h)
  static void forward(std::span<const std::int64_t> tokens, std::int64_t first_token,
                      View<const T> table, View<T> y);
  // dy (tokens, h) -> dtable (v, h), added to
  static void backward(std::span<const std::int64_t> tokens, std::int64_t first_token,
                       View<const T> dy, View<T> dtable);
};

}  // namespace llmb::runner::cpu
