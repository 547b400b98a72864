// The smallest operations: residual sums, and totals that are read once a step.
#pragma once

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct Elementwise {
  // y += x, of one shape
  static void add(View<const T> x, View<T> y);
  // y = a + b, of one shape
  static void sum(View<const T> a, View<const T> b, View<T> y);
  // y = x, of one shape
  static void copy(View<const T> x, View<T> y);
  // y = factor x, of one shape
  static void scale(T factor, View<const T> x, View<T> y);
  // total (1, 1) += the sum of x, in double precision and in the order of the elements
  static void add_sum(View<const T> x, View<double> total);
};

}  // namespace llmb::runner::cpu
