#include "runner/cpu/qkv_heads.h"

#include <algorithm>
#include <cassert>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {

template <typename T>
void QkvHeads<T>::split(std::int64_t groups, View<const T> qkv, View<T> q, View<T> k, View<T> v) {
  const OpTimer timer("qkv_heads.split");
  assert(qkv.cols == q.cols + k.cols + v.cols);
  const std::int64_t queries = q.cols / groups;
  const std::int64_t head = k.cols / groups;
  parallel_for(qkv.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* in = qkv.row(i);
      for (std::int64_t g = 0; g < groups; ++g, in += queries + 2 * head) {
        std::copy_n(in, queries, q.row(i) + g * queries);
        std::copy_n(in + queries, head, k.row(i) + g * head);
        std::copy_n(in + queries + head, head, v.row(i) + g * head);
      }
    }
  });
}

template <typename T>
void QkvHeads<T>::join(std::int64_t groups, View<const T> q, View<const T> k, View<const T> v,
                       View<T> qkv) {
  const OpTimer timer("qkv_heads.join");
  const std::int64_t queries = q.cols / groups;
  const std::int64_t head = k.cols / groups;
  parallel_for(qkv.rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* out = qkv.row(i);
      for (std::int64_t g = 0; g < groups; ++g, out += queries + 2 * head) {
        std::copy_n(q.row(i) + g * queries, queries, out);
        std::copy_n(k.row(i) + g * head, head, out + queries);
        std::copy_n(v.row(i) + g * head, head, out + queries + head);
      }
    }
  });
}

template struct QkvHeads<float>;
template struct QkvHeads<double>;

}  // namespace llmb::runner::cpu
