// HeadBlock: final norm, projection to the vocabulary (each tensor-parallel rank has a slice of
// it), and the cross-entropy of the next tokens, whose softmax never leaves the slices.
#pragma once

#include <span>
#include <vector>

#include "runner/model/norm_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Ops>
class HeadBlock {
 public:
  using Element = typename Ops::Element;
  using Tensor = typename Ops::Tensor;
  using ConstView = typename Ops::ConstView;
  using View = typename Ops::View;

  struct State {
    Tensor input;  // (shard rows, hidden)
    Tensor statistics;
    Tensor normalized;
    Tensor logits;  // (context rows, vocabulary / tp); backward turns them into their gradients
    Tensor maxima;  // (context rows, 1)
    Tensor sums;    // (context rows, 2)
    std::vector<std::int64_t> targets;  // of the context rows
  };

  // `context` and `store` outlive it.
  HeadBlock(const StageContext& context, const ParameterStore<Element>& store);

  // x (shard rows, hidden); state.targets is set. loss_sum (1, 1) += the losses of the context
  // slice's tokens.
  void forward(ConstView x, State& state, typename Ops::TotalsView loss_sum);
  // Gradients of loss_scale * that sum. dx (shard rows, hidden) is overwritten.
  void backward(State& state, double loss_scale, View dx);

 private:
  std::int64_t first_token() const { return context_.place.tp * head_.rows(); }

  const StageContext& context_;
  NormLayer<Ops> norm_;
  LinearLayer<Ops> head_;
};

}  // namespace llmb::runner
