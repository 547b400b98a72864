#include "runner/model/mlp_block.h"

#include "runner/cpu/ops.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

template <typename Ops>
MlpBlock<Ops>::MlpBlock(const StageContext& context, const ParameterStore<Element>& store,
                        const std::string& name)
    : context_(context),
      fc1_(store.at(name + ".fc1.weight")),
      fc2_(store.at(name + ".fc2.weight")) {}

template <typename Ops>
void MlpBlock<Ops>::forward(ConstView x, State& state, View y) const {
  Tensor storage;
  const ConstView input = gather_sequence<Ops>(context_, x, storage, "tp.mlp_in");
  state.before.resize(input.rows, fc1_.rows);
  state.after.resize(input.rows, fc2_.cols);
  Ops::Linear::forward(input, fc1_.template value_as<ConstView>(), state.before);
  Ops::Activation::forward(context_.spec.shape.activation, state.before, state.after);
  Tensor partial(input.rows, fc2_.rows);
  Ops::Linear::forward(state.after, fc2_.template value_as<ConstView>(), partial);
  scatter_sequence<Ops>(context_, partial, y, "tp.mlp_out");
}

template <typename Ops>
void MlpBlock<Ops>::backward(ConstView x, const State& state, ConstView dy, View dx) const {
  Tensor dy_storage;
  const ConstView d_out = gather_sequence<Ops>(context_, dy, dy_storage, "tp.mlp_out_grad");
  Tensor d_after(d_out.rows, fc2_.cols);
  Ops::Linear::backward_input(d_out, fc2_.template value_as<ConstView>(), d_after);
  Ops::Linear::backward_weight(state.after, d_out, fc2_.template gradient_as<View>());
  Tensor d_before(d_out.rows, fc1_.rows);
  Ops::Activation::backward(context_.spec.shape.activation, state.before, d_after, d_before);
  Tensor x_storage;
  const ConstView input = gather_sequence<Ops>(context_, x, x_storage, "tp.mlp_in_again");
  Ops::Linear::backward_weight(input, d_before, fc1_.template gradient_as<View>());
  Tensor partial(d_out.rows, fc1_.cols);
  Ops::Linear::backward_input(d_before, fc1_.template value_as<ConstView>(), partial);
  scatter_sequence<Ops>(context_, partial, dx, "tp.mlp_in_grad");
}

template class MlpBlock<cpu::Ops<float>>;
template class MlpBlock<cpu::Ops<double>>;

}  // namespace llmb::runner
