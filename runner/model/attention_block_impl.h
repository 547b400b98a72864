// The definitions of attention_block.h: included where a backend is put together, once.
#pragma once

#include <fmt/format.h>

#include "runner/model/attention_block.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {
namespace detail {

inline std::string attention_parameter(std::int64_t layer, const char* matrix) {
  return fmt::format("layers.{}.attention.{}.weight", layer, matrix);
}

inline RotaryFrequencies frequencies_of(const ModelShape& model) {
  RotaryFrequencies frequencies;
  frequencies.base = model.rotary_base;
  frequencies.scaling_factor = model.rotary_scaling_factor;
  frequencies.low_turns = model.rotary_low_frequency_factor;
  frequencies.high_turns = model.rotary_high_frequency_factor;
  frequencies.original_length = static_cast<double>(model.rotary_original_length);
  return frequencies;
}

}  // namespace detail

template <typename Backend>
AttentionBlock<Backend>::AttentionBlock(const StageContext<Backend>& context,
                                        const ParameterStore<Backend>& store, std::int64_t layer)
    : context_(context),
      qkv_(context, store.at(detail::attention_parameter(layer, "qkv"))),
      out_(context, store.at(detail::attention_parameter(layer, "out"))) {
  const ModelShape& model = context.spec.shape;
  shape_ = attention_shape(context.spec, context.sizes, context.micro_batch_size, context.precision,
                           layer);
  const bool is_rotary = context.spec.is_rotary_layer(layer);
  context.ops.prepare_attention(shape_, context.positions, context.token_count());
  // Pairs are turned, so the share of a head that RoPE turns is even.
  const auto pairs = is_rotary ? static_cast<std::int64_t>(model.rotary_fraction *
                                                           static_cast<double>(model.head_size) / 2)
                               : 0;
  rotary_table_.resize(context.ops, static_cast<std::int64_t>(context.positions.size()), 2 * pairs);
  context.ops.make_rope_table(context.positions, detail::frequencies_of(model), rotary_table_);
}

template <typename Backend>
ConstValueView<Backend> AttentionBlock<Backend>::gather_context(ConstView own, Tensor& storage,
                                                                CallTag tag) const {
  if (context_.sizes.cp == 1) return own;
  Tensor by_rank(context_.ops, own.rows * context_.sizes.cp, own.cols);
  context_.groups.context->all_gather(own.values(), by_rank.values(), tag);
  storage.resize(context_.ops, by_rank.rows(), by_rank.cols());
  context_.ops.put_rows(context_.gathered_rows.values(), by_rank, storage);
  return storage;
}

template <typename Backend>
void AttentionBlock<Backend>::scatter_context(const Tensor& whole, Tensor& own, CallTag tag) const {
  Tensor by_rank(context_.ops, whole.rows(), whole.cols());
  context_.ops.take_rows(context_.gathered_rows.values(), whole, by_rank);
  own.resize(context_.ops, context_.context_rows(), whole.cols());
  context_.groups.context->reduce_scatter(by_rank.values(), own.values(), tag);
}

template <typename Backend>
void AttentionBlock<Backend>::forward(ConstView x, State& state, View y) {
  const std::int64_t rows = context_.context_rows();
  const std::int64_t query_cols = shape_.head_count * shape_.head_size;
  const std::int64_t key_cols = shape_.group_count * shape_.head_size;
  Tensor storage;
  const ConstView input = gather_sequence<Backend>(context_, x, storage, "tp.attention_in");
  Tensor qkv(context_.ops, rows, qkv_.rows());
  qkv_.forward(input, qkv);
  state.q.resize(context_.ops, rows, query_cols);
  state.k.resize(context_.ops, rows, key_cols);
  state.v.resize(context_.ops, rows, key_cols);
  context_.ops.qkv_rope(shape_, rotary_table_, qkv, state.q, state.k, state.v);
  keep<Backend>(context_.ops, context_.precision, state.q);
  keep<Backend>(context_.ops, context_.precision, state.k);

  Tensor key_storage;
  Tensor value_storage;
  const ConstView keys = gather_context(state.k, key_storage, "cp.keys");
  const ConstView values = gather_context(state.v, value_storage, "cp.values");
  state.o.resize(context_.ops, rows, query_cols);
  state.log_sum.resize(context_.ops, rows, shape_.head_count);
  context_.ops.attention(shape_, context_.positions, context_.query_positions.values(), state.q,
                         keys, values, state.o, state.log_sum);
  keep<Backend>(context_.ops, context_.precision, state.o);

  Tensor partial_storage;
  const View partial = partial_of<Backend>(context_, y, partial_storage);
  out_.forward(state.o, partial);
  scatter_sequence<Backend>(context_, partial, y, "tp.attention_out");
}

template <typename Backend>
void AttentionBlock<Backend>::backward(ConstView x, const State& state, ConstView dy, View dx) {
  const std::int64_t rows = context_.context_rows();
  Tensor dy_storage;
  const ConstView d_out =
      gather_sequence<Backend>(context_, dy, dy_storage, "tp.attention_out_grad");
  Tensor d_o(context_.ops, rows, state.o.cols());
  out_.backward(state.o, d_out, d_o);

  Tensor key_storage;
  Tensor value_storage;
  const ConstView keys = gather_context(state.k, key_storage, "cp.keys_again");
  const ConstView values = gather_context(state.v, value_storage, "cp.values_again");
  Tensor dq(context_.ops, rows, state.q.cols());
  Tensor dk(context_.ops, keys.rows, keys.cols);
  Tensor dv(context_.ops, keys.rows, keys.cols);
  context_.ops.attention_backward(shape_, context_.positions, context_.query_positions.values(),
                                  state.q, keys, values, state.o, state.log_sum, d_o, dq, dk, dv);
  if (context_.sizes.cp > 1) {
    Tensor own;
    scatter_context(dk, own, "cp.keys_grad");
    std::swap(dk, own);
    scatter_context(dv, own, "cp.values_grad");
    std::swap(dv, own);
  }
  Tensor dqkv(context_.ops, rows, qkv_.rows());
  context_.ops.qkv_rope_backward(shape_, rotary_table_, dq, dk, dv, dqkv);
  keep<Backend>(context_.ops, context_.precision, dqkv);

  Tensor x_storage;
  const ConstView input = gather_sequence<Backend>(context_, x, x_storage, "tp.attention_in_again");
  Tensor partial_storage;
  const View partial = partial_of<Backend>(context_, dx, partial_storage);
  qkv_.backward(input, dqkv, partial);
  scatter_sequence<Backend>(context_, partial, dx, "tp.attention_in_grad");
}

}  // namespace llmb::runner
