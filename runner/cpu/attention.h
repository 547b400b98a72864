// Causal attention with grouped queries (GQA): softmax(q k^T / sqrt(d)) v, a block of query rows
// at a time, so that the scores of a whole sequence never exist. Queries may be any subset of the
// sequence's positions (a context-parallel rank's), keys and values are all of it, in order.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"
#include "runner/operation/attention_shape.h"

namespace llmb::runner::cpu {

using runner::AttentionShape;

template <typename T>
struct Attention {
  // Query i sees keys [first_visible(p), p], p being query_positions[i]. q (sq * b, heads * d), k
  // and v (sk * b, groups * d)
  // -> o as q, log_sum (sq * b, heads): log of the sum of exp(score), for backward
  static void forward(const AttentionShape& shape, std::span<const std::int64_t> query_positions,
                      View<const T> q, View<const T> k, View<const T> v, View<T> o,
                      View<T> log_sum);
  // dq, dk and dv are overwritten; dk and dv are this rank's queries' part.
  static void backward(const AttentionShape& shape, std::span<const std::int64_t> query_positions,
                       View<const T> q, View<const T> k, View<const T> v, View<const T> o,
                       View<const T> log_sum, View<const T> d_o, View<T> dq, View<T> dk,
                       View<T> dv);
};

}  // namespace llmb::runner::cpu
