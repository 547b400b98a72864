// Linear: y = x W^T without bias, weights as (out, in). The whole linear layer, or one rank's
// rows of it (column parallel) or columns (row parallel): the sums across ranks are not its
// business. GroupedLinear: the same with a weight matrix per expert, rows sorted by expert.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct Linear {
  // x (n, in), weight (out, in) -> y (n, out)
  static void forward(View<const T> x, View<const T> weight, View<T> y);
  // dy (n, out), weight (out, in) -> dx (n, in), added to what is there if `accumulate`
  static void backward_input(View<const T> dy, View<const T> weight, View<T> dx,
                             bool accumulate = false);
  // x (n, in), dy (n, out) -> dweight (out, in) += dy^T x
  static void backward_weight(View<const T> x, View<const T> dy, View<T> dweight);
};

// Expert e has rows_of_expert[e] rows of x, in order, and rows [e * out, (e + 1) * out) of weight.
template <typename T>
struct GroupedLinear {
  // x (n, in), weight (experts * out, in) -> y (n, out)
  static void forward(std::span<const std::int64_t> rows_of_expert, View<const T> x,
                      View<const T> weight, View<T> y);
  // dx is overwritten.
  static void backward_input(std::span<const std::int64_t> rows_of_expert, View<const T> dy,
                             View<const T> weight, View<T> dx);
  // dweight is added to.
  static void backward_weight(std::span<const std::int64_t> rows_of_expert, View<const T> x,
                              View<const T> dy, View<T> dweight);
};

}  // namespace llmb::runner::cpu
