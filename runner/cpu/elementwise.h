// The smallest operations: residual sums, and totals that go into a log line.
#pragma once

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct Elementwise {
  // y += x, of one shape
  static void add(View<const T> x, View<T> y);
  // y = x, of one shape
  static void copy(View<const T> x, View<T> y);
  // y = factor x, of one shape
  static void scale(T factor, View<const T> x, View<T> y);
  // In double precision, in the order of the elements.
  static double sum(View<const T> x);
};

}  // namespace llmb::runner::cpu
