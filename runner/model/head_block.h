// HeadBlock: final norm, projection to the vocabulary (each tensor-parallel rank has a slice of
// it), and the cross-entropy of the next tokens, whose softmax never leaves the slices. Goes
// forward and back in one pass, a chunk of rows at a time, so that logits exist for a chunk only
// and are computed once.
#pragma once

#include <span>

#include "runner/model/norm_layer.h"
#include "runner/model/stage_context.h"

namespace llmb::runner {

template <typename Backend>
class HeadBlock {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;
  using Targets = std::span<const typename Backend::Index>;

  // `context` and `store` outlive it.
  HeadBlock(const StageContext<Backend>& context, const ParameterStore<Backend>& store);

  // x (shard rows, hidden); targets: the tokens after those of the context rows. loss_sum (1, 1)
  // += the losses of the context slice's tokens. dx (shard rows, hidden) becomes the gradient of
  // loss_scale * that sum, and the parameters' gradients are added to.
  void pass(ConstView x, Targets targets, double loss_scale, TotalsView<Backend> loss_sum, View dx);

 private:
  // input (context rows, hidden) -> dinput; all rows' losses are added to loss_sum.
  void pass_chunks(ConstView input, Targets targets, double loss_scale,
                   TotalsView<Backend> loss_sum, View dinput);
  // logits (n, vocabulary / tp) become their gradients. -> losses (n, 1)
  void cross_entropy(View logits, Targets targets, double loss_scale,
                     StatisticView<Backend> losses);
  std::int64_t chunk_rows(std::int64_t rows) const;

  const StageContext<Backend>& context_;
  NormLayer<Backend> norm_;
  LinearLayer<Backend> head_;
};

}  // namespace llmb::runner
