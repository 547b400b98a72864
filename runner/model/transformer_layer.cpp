#include "runner/model/transformer_layer.h"

#include "runner/cpu/ops.h"

namespace llmb::runner {
namespace {
std::string prefix_of(std::int64_t layer) {
  return "layers." + std::to_string(layer) + ".";
}
}  // namespace

template <typename Ops>
TransformerLayer<Ops>::TransformerLayer(const StageContext& context,
                                        const ParameterStore<Element>& store, std::int64_t layer)
    : precision_(context.precision),
      input_norm_(context, store, prefix_of(layer) + "input_norm"),
      attention_(context, store, layer),
      mlp_norm_(context, store, prefix_of(layer) + "mlp_norm") {
  if (context.spec.is_moe_layer(layer)) {
    moe_.emplace(context, store, prefix_of(layer));
  } else {
    mlp_.emplace(context, store, prefix_of(layer) + "mlp");
  }
}

template <typename Ops>
void TransformerLayer<Ops>::forward(View x, State& state, typename Ops::TotalsView auxiliary_loss) {
  Tensor branch(x.rows, x.cols);
  state.input.resize(x.rows, x.cols);
  Ops::Elementwise::copy(x, state.input);
  input_norm_.forward(state.input, state.attention_input, state.input_statistics);
  attention_.forward(state.attention_input, state.attention, branch);
  Ops::Elementwise::add(branch, x);
  keep<Ops>(precision_, x);

  state.middle.resize(x.rows, x.cols);
  Ops::Elementwise::copy(x, state.middle);
  mlp_norm_.forward(state.middle, state.mlp_input, state.middle_statistics);
  if (moe_) {
    moe_->forward(state.mlp_input, state.moe, branch, auxiliary_loss);
  } else {
    mlp_->forward(state.mlp_input, state.mlp, branch);
  }
  Ops::Elementwise::add(branch, x);
  keep<Ops>(precision_, x);
}

template <typename Ops>
void TransformerLayer<Ops>::backward(const State& state, double auxiliary_scale, View dx) {
  Tensor d_normalized(dx.rows, dx.cols);
  Tensor d_branch(dx.rows, dx.cols);
  if (moe_) {
    moe_->backward(state.mlp_input, state.moe, dx, auxiliary_scale, d_normalized);
  } else {
    mlp_->backward(state.mlp_input, state.mlp, dx, d_normalized);
  }
  mlp_norm_.backward(state.middle, state.middle_statistics, d_normalized, d_branch);
  Ops::Elementwise::add(d_branch, dx);
  keep<Ops>(precision_, dx);

  attention_.backward(state.attention_input, state.attention, dx, d_normalized);
  input_norm_.backward(state.input, state.input_statistics, d_normalized, d_branch);
  Ops::Elementwise::add(d_branch, dx);
  keep<Ops>(precision_, dx);
}

template class TransformerLayer<cpu::Ops<float>>;
template class TransformerLayer<cpu::Ops<double>>;

}  // namespace llmb::runner
