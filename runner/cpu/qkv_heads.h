// QkvHeads: between the output of the fused projection, where every key/value group has its query
// heads, then its key, then its value, and the three matrices that attention takes.
#pragma once

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct QkvHeads {
  // qkv (n, groups * (heads / groups + 2) * d) -> q (n, heads * d), k and v (n, groups * d)
  static void split(std::int64_t groups, View<const T> qkv, View<T> q, View<T> k, View<T> v);
  // The way back, for gradients.
  static void join(std::int64_t groups, View<const T> q, View<const T> k, View<const T> v,
                   View<T> qkv);
};

}  // namespace llmb::runner::cpu
