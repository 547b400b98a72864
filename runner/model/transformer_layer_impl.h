// The definitions of transformer_layer.h: included where a backend is put together, once.
#pragma once

#include <fmt/format.h>

#include "runner/model/transformer_layer.h"
namespace llmb::runner {
namespace detail {
inline std::string prefix_of(std::int64_t layer) {
  return fmt::format("layers.{}.", layer);
}
}  // namespace detail

template <typename Backend>
TransformerLayer<Backend>::TransformerLayer(const StageContext<Backend>& context,
                                            const ParameterStore<Backend>& store,
                                            std::int64_t layer)
    : ops_(context.ops),
      precision_(context.precision),
      input_norm_(context, store, detail::prefix_of(layer) + "input_norm"),
      attention_(context, store, layer),
      mlp_norm_(context, store, detail::prefix_of(layer) + "mlp_norm") {
  if (context.spec.is_moe_layer(layer)) {
    moe_.emplace(context, store, detail::prefix_of(layer));
  } else {
    mlp_.emplace(context, store, detail::prefix_of(layer) + "mlp");
  }
}

template <typename Backend>
void TransformerLayer<Backend>::forward(View x, State& state, TotalsView<Backend> auxiliary_loss) {
  Tensor branch(ops_, x.rows, x.cols);
  state.input.resize(ops_, x.rows, x.cols);
  ops_.copy(x, state.input);
  input_norm_.forward(state.input, state.attention_input, state.input_statistics);
  attention_.forward(state.attention_input, state.attention, branch);
  mlp_norm_.forward_sum(state.input, branch, state.middle, state.mlp_input,
                        state.middle_statistics);
  if (moe_) {
    moe_->forward(state.mlp_input, state.moe, branch, auxiliary_loss);
  } else {
    mlp_->forward(state.mlp_input, state.mlp, branch);
  }
  ops_.sum(state.middle, branch, x);
  keep<Backend>(ops_, precision_, x);
}

template <typename Backend>
void TransformerLayer<Backend>::backward(const State& state, double auxiliary_scale, View dx) {
  Tensor d_normalized(ops_, dx.rows, dx.cols);
  if (moe_) {
    moe_->backward(state.mlp_input, state.moe, dx, auxiliary_scale, d_normalized);
  } else {
    mlp_->backward(state.mlp_input, state.mlp, dx, d_normalized);
  }
  mlp_norm_.backward_add(state.middle, state.middle_statistics, d_normalized, dx);
  attention_.backward(state.attention_input, state.attention, dx, d_normalized);
  input_norm_.backward_add(state.input, state.input_statistics, d_normalized, dx);
}

}  // namespace llmb::runner
