// HeadBlock: final norm, projection to the vocabulary (each tensor-parallel rank has a slice of
// it), and the cross-entropy of the next tokens, whose softmax never leaves the slices.
#pragma once

#include <span>
#include <vector>

#include "runner/model/norm_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Backend>
class HeadBlock {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;

  struct State {
    Tensor input;  // (shard rows, hidden)
    StatisticTensor<Backend> statistics;
    Tensor normalized;
    Tensor logits;  // (context rows, vocabulary / tp); backward turns them into their gradients
    StatisticTensor<Backend> maxima;  // (context rows, 1)
    StatisticTensor<Backend> sums;    // (context rows, 2)
    IndexArray<Backend> targets;      // of the context rows
  };

  // `context` and `store` outlive it.
  HeadBlock(const StageContext<Backend>& context, const ParameterStore<Backend>& store);

  // x (shard rows, hidden); state.targets is set. loss_sum (1, 1) += the losses of the context
  // slice's tokens.
  void forward(ConstView x, State& state, TotalsView<Backend> loss_sum);
  // Gradients of loss_scale * that sum. dx (shard rows, hidden) is overwritten.
  void backward(State& state, double loss_scale, View dx);

 private:
  std::int64_t first_token() const { return context_.place.tp * head_.rows(); }

  const StageContext<Backend>& context_;
  NormLayer<Backend> norm_;
  LinearLayer<Backend> head_;
};

}  // namespace llmb::runner
