// AttentionBlock: projection to heads (column parallel), RoPE, causal attention over the keys and
// values of the whole sequence (gathered over the context group), projection back (row parallel).
#pragma once

#include "runner/model/linear_layer.h"
#include "runner/model/stage_context.h"
#include "runner/operation/attention_shape.h"

namespace llmb::runner {

template <typename Backend>
class AttentionBlock {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;

  // What backward needs of forward. Rows: this rank's context slice.
  struct State {
    Tensor q;                          // (rows, heads * d), turned
    Tensor k;                          // (rows, groups * d), turned
    Tensor v;                          // (rows, groups * d)
    Tensor o;                          // (rows, heads * d)
    StatisticTensor<Backend> log_sum;  // (rows, heads)
  };

  // Of layer `layer` of the whole model; `context` and `store` outlive it.
  AttentionBlock(const StageContext<Backend>& context, const ParameterStore<Backend>& store,
                 std::int64_t layer);

  // x and y (shard rows, hidden)
  void forward(ConstView x, State& state, View y);
  // dx is overwritten. x as in forward.
  void backward(ConstView x, const State& state, ConstView dy, View dx);

  // Calls `visit` with every linear layer.
  template <typename Visit>
  void visit_linears(const Visit& visit) {
    visit(qkv_);
    visit(out_);
  }

 private:
  // Keys or values of the whole sequence in its order; `own` itself without context parallelism.
  ConstView gather_context(ConstView own, Tensor& storage, CallTag tag) const;
  // This rank's rows of the sum of everybody's gradients of the whole sequence.
  void scatter_context(const Tensor& whole, Tensor& own, CallTag tag) const;

  const StageContext<Backend>& context_;
  AttentionShape shape_;                   // of this rank's heads
  StatisticTensor<Backend> rotary_table_;  // without columns where the layer has no RoPE
  LinearLayer<Backend> qkv_;
  LinearLayer<Backend> out_;
};

}  // namespace llmb::runner
