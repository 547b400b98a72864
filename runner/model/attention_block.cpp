#include "runner/model/attention_block.h"

#include "runner/cpu/ops.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {
namespace {

std::string name_of(std::int64_t layer, const char* matrix) {
  return "layers." + std::to_string(layer) + ".attention." + matrix + ".weight";
}

template <typename Ops>
typename Ops::RotaryFrequencies frequencies_of(const ModelShape& model) {
  typename Ops::RotaryFrequencies frequencies;
  frequencies.base = model.rotary_base;
  frequencies.scaling_factor = model.rotary_scaling_factor;
  frequencies.low_turns = model.rotary_low_frequency_factor;
  frequencies.high_turns = model.rotary_high_frequency_factor;
  frequencies.original_length = static_cast<double>(model.rotary_original_length);
  return frequencies;
}

}  // namespace

template <typename Ops>
AttentionBlock<Ops>::AttentionBlock(const StageContext& context,
                                    const ParameterStore<Element>& store, std::int64_t layer)
    : context_(context),
      qkv_(context, store.at(name_of(layer, "qkv"))),
      out_(context, store.at(name_of(layer, "out"))) {
  const ModelShape& model = context.spec.shape;
  shape_ = {context.micro_batch_size, model.attention_head_count / context.sizes.tp,
            model.query_group_count / context.sizes.tp, model.head_size};
  // Llama 4: layers with RoPE look at their chunk, those without at everything.
  const bool is_rotary = context.spec.is_rotary_layer(layer);
  shape_.bf16_products = context.precision != Precision::fp32;
  shape_.chunk_size = is_rotary ? model.attention_chunk_size : 0;
  // Pairs are turned, so the share of a head that RoPE turns is even.
  const auto pairs = is_rotary ? static_cast<std::int64_t>(model.rotary_fraction *
                                                           static_cast<double>(model.head_size) / 2)
                               : 0;
  rotary_table_.resize(static_cast<std::int64_t>(context.positions.size()), 2 * pairs);
  Ops::Rope::make_table(context.positions, frequencies_of<Ops>(model), rotary_table_);
}

template <typename Ops>
typename Ops::ConstView AttentionBlock<Ops>::gather_context(ConstView own, Tensor& storage,
                                                            CallTag tag) const {
  if (context_.sizes.cp == 1) return own;
  Tensor by_rank(own.rows * context_.sizes.cp, own.cols);
  context_.groups.context->all_gather(own.values(), by_rank.values(), tag);
  storage.resize(by_rank.rows(), by_rank.cols());
  Ops::RowOrder::put(context_.gathered_rows, by_rank, storage);
  return storage;
}

template <typename Ops>
void AttentionBlock<Ops>::scatter_context(const Tensor& whole, Tensor& own, CallTag tag) const {
  Tensor by_rank(whole.rows(), whole.cols());
  Ops::RowOrder::take(context_.gathered_rows, whole, by_rank);
  own.resize(context_.context_rows(), whole.cols());
  context_.groups.context->reduce_scatter(by_rank.values(), own.values(), tag);
}

template <typename Ops>
void AttentionBlock<Ops>::forward(ConstView x, State& state, View y) {
  const std::int64_t rows = context_.context_rows();
  const std::int64_t query_cols = shape_.head_count * shape_.head_size;
  const std::int64_t key_cols = shape_.group_count * shape_.head_size;
  Tensor storage;
  const ConstView input = gather_sequence<Ops>(context_, x, storage, "tp.attention_in");
  Tensor qkv(rows, qkv_.rows());
  qkv_.forward(input, qkv);
  state.q.resize(rows, query_cols);
  state.k.resize(rows, key_cols);
  state.v.resize(rows, key_cols);
  Ops::QkvHeads::split(shape_.group_count, qkv, state.q, state.k, state.v);
  Ops::Rope::forward(rotary_table_, shape_.batch, shape_.head_size, state.q);
  Ops::Rope::forward(rotary_table_, shape_.batch, shape_.head_size, state.k);
  keep<Ops>(context_.precision, state.q);
  keep<Ops>(context_.precision, state.k);

  Tensor key_storage;
  Tensor value_storage;
  const ConstView keys = gather_context(state.k, key_storage, "cp.keys");
  const ConstView values = gather_context(state.v, value_storage, "cp.values");
  state.o.resize(rows, query_cols);
  state.log_sum.resize(rows, shape_.head_count);
  Ops::Attention::forward(shape_, context_.positions, state.q, keys, values, state.o,
                          state.log_sum);
  keep<Ops>(context_.precision, state.o);

  Tensor partial(rows, out_.rows());
  out_.forward(state.o, partial);
  scatter_sequence<Ops>(context_, partial, y, "tp.attention_out");
}

template <typename Ops>
void AttentionBlock<Ops>::backward(ConstView x, const State& state, ConstView dy, View dx) {
  const std::int64_t rows = context_.context_rows();
  Tensor dy_storage;
  const ConstView d_out = gather_sequence<Ops>(context_, dy, dy_storage, "tp.attention_out_grad");
  Tensor d_o(rows, state.o.cols());
  out_.backward(state.o, d_out, d_o);

  Tensor key_storage;
  Tensor value_storage;
  const ConstView keys = gather_context(state.k, key_storage, "cp.keys_again");
  const ConstView values = gather_context(state.v, value_storage, "cp.values_again");
  Tensor dq(rows, state.q.cols());
  Tensor dk(keys.rows, keys.cols);
  Tensor dv(keys.rows, keys.cols);
  Ops::Attention::backward(shape_, context_.positions, state.q, keys, values, state.o,
                           state.log_sum, d_o, dq, dk, dv);
  if (context_.sizes.cp > 1) {
    Tensor own;
    scatter_context(dk, own, "cp.keys_grad");
    std::swap(dk, own);
    scatter_context(dv, own, "cp.values_grad");
    std::swap(dv, own);
  }
  Ops::Rope::backward(rotary_table_, shape_.batch, shape_.head_size, dq);
  Ops::Rope::backward(rotary_table_, shape_.batch, shape_.head_size, dk);
  Tensor dqkv(rows, qkv_.rows());
  Ops::QkvHeads::join(shape_.group_count, dq, dk, dv, dqkv);
  keep<Ops>(context_.precision, dqkv);

  Tensor x_storage;
  const ConstView input = gather_sequence<Ops>(context_, x, x_storage, "tp.attention_in_again");
  Tensor partial(rows, dx.cols);
  qkv_.backward(input, dqkv, partial);
  scatter_sequence<Ops>(context_, partial, dx, "tp.attention_in_grad");
}

template class AttentionBlock<cpu::Ops<float>>;
template class AttentionBlock<cpu::Ops<double>>;

}  // namespace llmb::runner
