// The definitions of ops.h for norms, activations, RoPE and attention: included by
// ops_instances.cpp only.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "runner/cuda/ops.h"
#include "runner/cuda/ops_operands.h"
#include "runner/kernels/activation.h"
#include "runner/kernels/attention.h"
#include "runner/kernels/column_sum.h"
#include "runner/kernels/layer_norm_1p.h"
#include "runner/kernels/qkv_rope.h"
#include "runner/kernels/rms_norm.h"
#include "runner/operation/attention_pieces.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner::cuda {
namespace detail {

inline kernels::ActivationKind kind_of(parser::Activation activation) {
  switch (activation) {
    case parser::Activation::swiglu:
      return kernels::ActivationKind::swiglu;
    case parser::Activation::geglu:
      return kernels::ActivationKind::geglu;
    case parser::Activation::squared_relu:
      break;
  }
  return kernels::ActivationKind::squared_relu;
}

inline kernels::QkvShape qkv_shape(const AttentionShape& shape) {
  return {shape.batch, shape.group_count, shape.head_count / shape.group_count, shape.head_size};
}

inline kernels::AttentionShape kernel_shape(const AttentionShape& shape,
                                            std::span<const std::int32_t> query_positions) {
  return {shape.batch,      shape.head_count,       shape.group_count,          shape.head_size,
          shape.chunk_size, query_positions.data(), std::ssize(query_positions)};
}

}  // namespace detail

template <typename T>
void Ops<T>::rms_norm_of(In x, In branch, std::span<const T> weight, double epsilon, Out sum, Out y,
                         StatisticsOut scale) {
  const OpRange op = range("rms_norm.forward");
  count_moved(x, branch, sum, y);
  kernels::rms_norm_forward<T>({.x = detail::matrix(x),
                                .branch = detail::matrix(branch),
                                .weight = weight.data(),
                                .epsilon = static_cast<float>(epsilon),
                                .sum = detail::matrix(sum),
                                .y = detail::matrix(y),
                                .scale = scale.data},
                               stream());
}
template <typename T>
void Ops<T>::rms_norm(In x, std::span<const T> weight, double epsilon, Out y, StatisticsOut scale) {
  rms_norm_of(x, {}, weight, epsilon, {}, y, scale);
}
template <typename T>
void Ops<T>::add_rms_norm(In x, In branch, std::span<const T> weight, double epsilon, Out sum,
                          Out y, StatisticsOut scale) {
  rms_norm_of(x, branch, weight, epsilon, sum, y, scale);
}

template <typename T>
void Ops<T>::rms_norm_gradient(In x, std::span<const T> weight, Statistics scale, In dy, In bypass,
                               Out dx, std::span<float> dweight) {
  const OpRange op = range("rms_norm.backward");
  count_moved(x, dy, bypass, dx);
  Tensor<float> partials(*this, kernels::partial_rows(x.rows), x.cols);
  kernels::rms_norm_backward<T>({.x = detail::matrix(x),
                                 .weight = weight.data(),
                                 .scale = scale.data,
                                 .dy = detail::matrix(dy),
                                 .bypass = detail::matrix(bypass),
                                 .dx = detail::matrix(dx),
                                 .dweight = dweight.data(),
                                 .partials = partials.data()},
                                stream());
}
template <typename T>
void Ops<T>::rms_norm_backward(In x, std::span<const T> weight, Statistics scale, In dy, Out dx,
                               std::span<float> dweight) {
  rms_norm_gradient(x, weight, scale, dy, {}, dx, dweight);
}
template <typename T>
void Ops<T>::rms_norm_backward_add(In x, std::span<const T> weight, Statistics scale, In dy, Out dx,
                                   std::span<float> dweight) {
  rms_norm_gradient(x, weight, scale, dy, dx, dx, dweight);
}

template <typename T>
void Ops<T>::layer_norm_1p_of(In x, In branch, std::span<const T> weight, std::span<const T> bias,
                              double epsilon, Out sum, Out y, StatisticsOut statistics) {
  const OpRange op = range("layer_norm_1p.forward");
  count_moved(x, branch, sum, y);
  kernels::layer_norm_1p_forward<T>({.x = detail::matrix(x),
                                     .branch = detail::matrix(branch),
                                     .weight = weight.data(),
                                     .bias = bias.data(),
                                     .epsilon = static_cast<float>(epsilon),
                                     .sum = detail::matrix(sum),
                                     .y = detail::matrix(y),
                                     .statistics = statistics.data},
                                    stream());
}
template <typename T>
void Ops<T>::layer_norm_1p(In x, std::span<const T> weight, std::span<const T> bias, double epsilon,
                           Out y, StatisticsOut statistics) {
  layer_norm_1p_of(x, {}, weight, bias, epsilon, {}, y, statistics);
}
template <typename T>
void Ops<T>::add_layer_norm_1p(In x, In branch, std::span<const T> weight, std::span<const T> bias,
                               double epsilon, Out sum, Out y, StatisticsOut statistics) {
  layer_norm_1p_of(x, branch, weight, bias, epsilon, sum, y, statistics);
}

template <typename T>
void Ops<T>::layer_norm_1p_gradient(In x, std::span<const T> weight, Statistics statistics, In dy,
                                    In bypass, Out dx, std::span<float> dweight,
                                    std::span<float> dbias) {
  const OpRange op = range("layer_norm_1p.backward");
  count_moved(x, dy, bypass, dx);
  Tensor<float> partials(*this, 2 * kernels::partial_rows(x.rows), x.cols);
  kernels::layer_norm_1p_backward<T>({.x = detail::matrix(x),
                                      .weight = weight.data(),
                                      .statistics = statistics.data,
                                      .dy = detail::matrix(dy),
                                      .bypass = detail::matrix(bypass),
                                      .dx = detail::matrix(dx),
                                      .dweight = dweight.data(),
                                      .dbias = dbias.data(),
                                      .partials = partials.data()},
                                     stream());
}
template <typename T>
void Ops<T>::layer_norm_1p_backward(In x, std::span<const T> weight, Statistics statistics, In dy,
                                    Out dx, std::span<float> dweight, std::span<float> dbias) {
  layer_norm_1p_gradient(x, weight, statistics, dy, {}, dx, dweight, dbias);
}
template <typename T>
void Ops<T>::layer_norm_1p_backward_add(In x, std::span<const T> weight, Statistics statistics,
                                        In dy, Out dx, std::span<float> dweight,
                                        std::span<float> dbias) {
  layer_norm_1p_gradient(x, weight, statistics, dy, dx, dx, dweight, dbias);
}

template <typename T>
void Ops<T>::activation(parser::Activation kind, In x, Out y) {
  const OpRange op = range("activation.forward");
  count_moved(x, y);
  kernels::activation_forward<T>({detail::kind_of(kind), detail::matrix(x), detail::matrix(y)},
                                 stream());
}

template <typename T>
void Ops<T>::activation_backward(parser::Activation kind, In x, In dy, Out dx) {
  const OpRange op = range("activation.backward");
  count_moved(x, dy, dx);
  kernels::activation_backward<T>(
      {detail::kind_of(kind), detail::matrix(x), detail::matrix(dy), detail::matrix(dx)}, stream());
}

template <typename T>
void Ops<T>::make_rope_table(RowCounts positions, const RotaryFrequencies& frequencies,
                             StatisticsOut table) {
  const OpRange op = range("rope.make_table");
  if (table.size() == 0) return;
  const std::int64_t pairs = table.cols / 2;
  std::vector<double> radians;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    radians.push_back(frequencies.of_pair(pair, pairs));
  }
  const std::vector<Index> host_positions(positions.begin(), positions.end());
  Array<double> device_radians(*this, pairs);
  Array<Index> device_positions(*this, std::ssize(host_positions));
  write<double>(radians, device_radians.values());
  write<Index>(host_positions, device_positions.values());
  kernels::make_rope_table(
      {device_positions.values().data(), device_radians.values().data(), detail::matrix(table)},
      stream());
}

template <typename T>
void Ops<T>::qkv_rope(const AttentionShape& shape, Statistics table, In qkv, Out q, Out k, Out v) {
  const OpRange op = range("qkv_rope.forward");
  count_moved(qkv, q, k, v);
  kernels::qkv_rope_forward<T>(
      {detail::qkv_shape(shape), detail::matrix(qkv), detail::matrix(table), detail::matrix(q),
       detail::matrix(k), detail::matrix(v)},
      stream());
}

template <typename T>
void Ops<T>::qkv_rope_backward(const AttentionShape& shape, Statistics table, Out dq, Out dk, In dv,
                               Out dqkv) {
  const OpRange op = range("qkv_rope.backward");
  count_moved(dq, dk, dv, dqkv);
  kernels::qkv_rope_backward<T>({.shape = detail::qkv_shape(shape),
                                 .dq = detail::matrix(In(dq)),
                                 .dk = detail::matrix(In(dk)),
                                 .dv = detail::matrix(dv),
                                 .table = detail::matrix(table),
                                 .dqkv = detail::matrix(dqkv)},
                                stream());
}

template <typename T>
Attention& Ops<T>::attention_of(const AttentionShape& shape, RowCounts positions,
                                std::int64_t keys) {
  AttentionSizes sizes;
  sizes.batch = shape.batch;
  sizes.head_count = shape.head_count;
  sizes.group_count = shape.group_count;
  sizes.head_size = shape.head_size;
  sizes.chunk_size = shape.chunk_size;
  sizes.query_pieces = runner::sequence_pieces(positions);
  sizes.key_count = keys / shape.batch;
  const auto known = std::find_if(attentions_.begin(), attentions_.end(),
                                  [&](const auto& one) { return one.first == sizes; });
  if (known != attentions_.end()) return *known->second;
  return *attentions_.emplace_back(sizes, std::make_unique<Attention>(sizes)).second;
}

template <typename T>
AttentionUse Ops<T>::prepare_attention(const AttentionShape& shape, RowCounts positions,
                                       std::int64_t keys) {
  if constexpr (std::is_same_v<T, kernels::Bf16>) {
    const Attention& attention = attention_of(shape, positions, keys);
    return {attention.implementation(), attention.workspace_bytes_max()};
  } else {
    return {"own kernels: fp32 values",
            own_attention_workspace_bytes(shape, std::ssize(positions))};
  }
}

// As published results count it: the backward pass twice the forward one.
template <typename T>
void Ops<T>::count_attention(const AttentionShape& shape, RowCounts positions, double passes) {
  if (!profile_.is_counting()) return;
  profile_.add_work({.flops = passes * runner::attention_flops(shape, positions)});
}

template <typename T>
void Ops<T>::attention(const AttentionShape& shape, RowCounts on_host, Indices query_positions,
                       In q, In k, In v, Out o, StatisticsOut log_sum) {
  const OpRange op = range("attention.forward");
  count_attention(shape, on_host, 1);
  if constexpr (std::is_same_v<T, kernels::Bf16>) {
    Attention& fused = attention_of(shape, on_host, k.rows);
    const AttentionForwardCall call{detail::matrix(q), detail::matrix(k), detail::matrix(v),
                                    detail::matrix(o), log_sum.data};
    Tensor<std::byte> workspace(*this, 1, fused.workspace_bytes(call));
    fused.forward(call, workspace.data(), stream());
  } else {
    kernels::attention_forward<T>(
        {detail::kernel_shape(shape, query_positions), detail::matrix(q), detail::matrix(k),
         detail::matrix(v), detail::matrix(o), log_sum.data},
        stream());
  }
}

template <typename T>
void Ops<T>::attention_backward(const AttentionShape& shape, RowCounts on_host,
                                Indices query_positions, In q, In k, In v, In o, Statistics log_sum,
                                In d_o, Out dq, Out dk, Out dv) {
  const OpRange op = range("attention.backward");
  count_attention(shape, on_host, 2);
  if constexpr (std::is_same_v<T, kernels::Bf16>) {
    Attention& fused = attention_of(shape, on_host, k.rows);
    const AttentionBackwardCall call{detail::matrix(q),  detail::matrix(k),  detail::matrix(v),
                                     detail::matrix(o),  log_sum.data,       detail::matrix(d_o),
                                     detail::matrix(dq), detail::matrix(dk), detail::matrix(dv)};
    Tensor<std::byte> workspace(*this, 1, fused.workspace_bytes(call));
    fused.backward(call, workspace.data(), stream());
  } else {
    Tensor<float> dots(*this, q.rows, shape.head_count);
    kernels::attention_backward<T>(
        {detail::kernel_shape(shape, query_positions), detail::matrix(q), detail::matrix(k),
         detail::matrix(v), detail::matrix(o), log_sum.data, detail::matrix(d_o),
         detail::matrix(dq), detail::matrix(dk), detail::matrix(dv), dots.data()},
        stream());
  }
}

}  // namespace llmb::runner::cuda
