// The definitions of mlp_block.h: included where a backend is put together, once.
#pragma once

#include "runner/model/mlp_block.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

template <typename Backend>
MlpBlock<Backend>::MlpBlock(const StageContext<Backend>& context,
                            const ParameterStore<Backend>& store, const std::string& name)
    : context_(context),
      fc1_(context, store.at(name + ".fc1.weight")),
      fc2_(context, store.at(name + ".fc2.weight")) {}

template <typename Backend>
void MlpBlock<Backend>::forward(ConstView x, State& state, View y) {
  Tensor storage;
  const ConstView input = gather_sequence<Backend>(context_, x, storage, "tp.mlp_in");
  state.before.resize(context_.ops, input.rows, fc1_.rows());
  state.after.resize(context_.ops, input.rows, fc2_.cols());
  fc1_.forward(input, state.before);
  context_.ops.activation(context_.spec.shape.activation, state.before, state.after);
  keep<Backend>(context_.ops, context_.precision, state.after);
  Tensor partial_storage;
  const View partial = partial_of<Backend>(context_, y, partial_storage);
  fc2_.forward(state.after, partial);
  scatter_sequence<Backend>(context_, partial, y, "tp.mlp_out");
}

template <typename Backend>
void MlpBlock<Backend>::backward(ConstView x, const State& state, ConstView dy, View dx) {
  Tensor dy_storage;
  const ConstView d_out = gather_sequence<Backend>(context_, dy, dy_storage, "tp.mlp_out_grad");
  Tensor d_after(context_.ops, d_out.rows, fc2_.cols());
  fc2_.backward(state.after, d_out, d_after);
  Tensor d_before(context_.ops, d_out.rows, fc1_.rows());
  context_.ops.activation_backward(context_.spec.shape.activation, state.before, d_after, d_before);
  keep<Backend>(context_.ops, context_.precision, d_before);
  Tensor x_storage;
  const ConstView input = gather_sequence<Backend>(context_, x, x_storage, "tp.mlp_in_again");
  Tensor partial_storage;
  const View partial = partial_of<Backend>(context_, dx, partial_storage);
  fc1_.backward(input, d_before, partial);
  scatter_sequence<Backend>(context_, partial, dx, "tp.mlp_in_grad");
}

}  // namespace llmb::runner
