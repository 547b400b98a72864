// MlpBlock: fc1 (column parallel), activation, fc2 (row parallel). A dense layer's MLP, or the
// expert that all tokens share.
#pragma once

#include <string>

#include "runner/model/linear_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Backend>
class MlpBlock {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;

  // Rows: this rank's context slice.
  struct State {
    Tensor before;  // the activation: (rows, ffn or 2 ffn)
    Tensor after;   // (rows, ffn)
  };

  // `name` as in "layers.3.mlp"; `context` and `store` outlive it.
  MlpBlock(const StageContext<Backend>& context, const ParameterStore<Backend>& store,
           const std::string& name);

  // x and y (shard rows, hidden)
  void forward(ConstView x, State& state, View y);
  // dx is overwritten. x as in forward.
  void backward(ConstView x, const State& state, ConstView dy, View dx);

  // Calls `visit` with every linear layer.
  template <typename Visit>
  void visit_linears(const Visit& visit) {
    visit(fc1_);
    visit(fc2_);
  }

 private:
  const StageContext<Backend>& context_;
  LinearLayer<Backend> fc1_;
  LinearLayer<Backend> fc2_;
};

}  // namespace llmb::runner
