// TransformerLayer: x + attention(norm(x)), then + mlp(norm(.)), the MLP dense or of experts.
#pragma once

#include <optional>

#include "runner/model/attention_block.h"
#include "runner/model/mlp_block.h"
#include "runner/model/moe_block.h"
#include "runner/model/norm_layer.h"

namespace llmb::runner {

template <typename Backend>
class TransformerLayer {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;

  // What backward needs of forward; matrices are (shard rows, hidden).
  struct State {
    Tensor input;
    StatisticTensor<Backend> input_statistics;
    Tensor attention_input;  // normalized
    typename AttentionBlock<Backend>::State attention;
    Tensor middle;  // between attention and MLP
    StatisticTensor<Backend> middle_statistics;
    Tensor mlp_input;  // normalized
    typename MlpBlock<Backend>::State mlp;
    typename MoeBlock<Backend>::State moe;
  };

  // `layer` counts over the whole model; `context` and `store` outlive it.
  TransformerLayer(const StageContext<Backend>& context, const ParameterStore<Backend>& store,
                   std::int64_t layer);

  // x (shard rows, hidden) becomes the layer's output. auxiliary_loss (1, 1) += this rank's part.
  void forward(View x, State& state, TotalsView<Backend> auxiliary_loss);
  // dx, the gradient of the output, becomes that of the input.
  void backward(const State& state, double auxiliary_scale, View dx);

  // Calls `visit` with every linear layer, `visit_experts` with those of experts.
  template <typename Visit, typename VisitExperts>
  void visit_linears(const Visit& visit, const VisitExperts& visit_experts) {
    attention_.visit_linears(visit);
    if (mlp_) mlp_->visit_linears(visit);
    if (moe_) moe_->visit_linears(visit_experts, visit);
  }
  std::int64_t expert_rows_max() const { return moe_ ? moe_->rows_max() : 0; }

 private:
  typename Backend::Ops& ops_;
  Precision precision_;
  NormLayer<Backend> input_norm_;
  AttentionBlock<Backend> attention_;
  NormLayer<Backend> mlp_norm_;
  std::optional<MlpBlock<Backend>> mlp_;
  std::optional<MoeBlock<Backend>> moe_;
};

}  // namespace llmb::runner
