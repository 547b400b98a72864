#include "runner/model/mlp_block.h"

#include "runner/cpu/ops.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

template <typename Ops>
MlpBlock<Ops>::MlpBlock(const StageContext& context, const ParameterStore<Element>& store,
                        const std::string& name)
    : context_(context),
      fc1_(context, store.at(name + ".fc1.weight")),
      fc2_(context, store.at(name + ".fc2.weight")) {}

template <typename Ops>
void MlpBlock<Ops>::forward(ConstView x, State& state, View y) {
  Tensor storage;
  const ConstView input = gather_sequence<Ops>(context_, x, storage, "tp.mlp_in");
  state.before.resize(input.rows, fc1_.rows());
  state.after.resize(input.rows, fc2_.cols());
  fc1_.forward(input, state.before);
  Ops::Activation::forward(context_.spec.shape.activation, state.before, state.after);
  keep<Ops>(context_.precision, state.after);
  Tensor partial(input.rows, fc2_.rows());
  fc2_.forward(state.after, partial);
  scatter_sequence<Ops>(context_, partial, y, "tp.mlp_out");
}

template <typename Ops>
void MlpBlock<Ops>::backward(ConstView x, const State& state, ConstView dy, View dx) {
  Tensor dy_storage;
  const ConstView d_out = gather_sequence<Ops>(context_, dy, dy_storage, "tp.mlp_out_grad");
  Tensor d_after(d_out.rows, fc2_.cols());
  fc2_.backward(state.after, d_out, d_after);
  Tensor d_before(d_out.rows, fc1_.rows());
  Ops::Activation::backward(context_.spec.shape.activation, state.before, d_after, d_before);
  keep<Ops>(context_.precision, d_before);
  Tensor x_storage;
  const ConstView input = gather_sequence<Ops>(context_, x, x_storage, "tp.mlp_in_again");
  Tensor partial(d_out.rows, fc1_.cols());
  fc1_.backward(input, d_before, partial);
  scatter_sequence<Ops>(context_, partial, dx, "tp.mlp_in_grad");
}

template class MlpBlock<cpu::Ops<float>>;
template class MlpBlock<cpu::Ops<double>>;

}  // namespace llmb::runner
