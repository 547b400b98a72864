// RowOrder: the rows of a matrix in another order, there and back.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct RowOrder {
  // out[i] = in[order[i]]
  static void take(std::span<const std::int64_t> order, View<const T> in, View<T> out);
  // out[order[i]] = in[i]
  static void put(std::span<const std::int64_t> order, View<const T> in, View<T> out);
};

}  // namespace llmb::runner::cpu
