// MoeBlock: router, the chosen experts of every token, and the shared expert where the model has
// one. Routing happens on the sequence-parallel piece, so every token is routed once, and experts
// may be spread over ranks in any way that folds (ep, etp). Also the load-balancing loss.
#pragma once

#include <optional>
#include <string>

#include "runner/model/mlp_block.h"
#include "runner/model/stage_context.h"
#include "runner/model/token_exchange.h"
#include "runner/operation/router_score.h"

namespace llmb::runner {

template <typename Backend>
class MoeBlock {
 public:
  using Tensor = ValueTensor<Backend>;
  using ConstView = ConstValueView<Backend>;
  using View = ValueView<Backend>;

  struct State {
    StatisticTensor<Backend> probabilities;  // (shard rows, experts)
    IndexTensor<Backend> choices;            // (shard rows, k)
    StatisticTensor<Backend> weights;        // (shard rows, k)
    StatisticTensor<Backend> balance;        // (1, experts): d auxiliary loss / d probability
    // Choice j of token t, slot t * k + j, has row row_of_slot[slot] of those sorted by expert.
    IndexArray<Backend> row_of_slot;     // (shard rows * k)
    IndexArray<Backend> rows_of_expert;  // (experts): how many
    TokenExchange<Backend> exchange;
    // Rows of this rank's experts.
    Tensor inputs;   // (rows, hidden)
    Tensor before;   // (rows, ffn or 2 ffn)
    Tensor after;    // (rows, ffn)
    Tensor outputs;  // of this rank's tokens: (shard rows * k, hidden), not yet weighted
    typename MlpBlock<Backend>::State shared;
  };

  // `name` as in "layers.3."; `context` and `store` outlive it.
  MoeBlock(const StageContext<Backend>& context, const ParameterStore<Backend>& store,
           const std::string& name);

  // x and y (shard rows, hidden). auxiliary_loss (1, 1) += this rank's part of it: those of the
  // ranks that share the micro-batch add up.
  void forward(ConstView x, State& state, View y, TotalsView<Backend> auxiliary_loss);
  // dx is overwritten. x as in forward. `auxiliary_scale` multiplies the auxiliary loss.
  void backward(ConstView x, const State& state, ConstView dy, double auxiliary_scale, View dx);

  // Calls `visit` with the experts' linear layers, `visit_shared` with the shared expert's.
  template <typename Visit, typename VisitShared>
  void visit_linears(const Visit& visit, const VisitShared& visit_shared) {
    visit(fc1_);
    visit(fc2_);
    if (shared_) shared_->visit_linears(visit_shared);
  }
  // The most rows of a micro-batch that came to this rank's experts.
  std::int64_t rows_max() const { return rows_max_; }

 private:
  void balance(State& state, TotalsView<Backend> auxiliary_loss) const;
  void run_experts(State& state, Tensor& local);
  void run_experts_backward(const State& state, ConstView d_local, Tensor& d_inputs);
  // Weights where they multiply, else none: on the experts' inputs (Llama 4) or their outputs.
  ConstStatisticView<Backend> weights_if(bool here, const State& state) const;

  const StageContext<Backend>& context_;
  RouterScore score_;
  bool weights_on_inputs_;
  Weight<Backend> router_;
  LinearLayer<Backend> fc1_;  // (experts * ffn or 2 ffn, hidden)
  LinearLayer<Backend> fc2_;  // (experts * hidden, ffn)
  std::optional<MlpBlock<Backend>> shared_;
  std::int64_t rows_max_ = 0;
};

}  // namespace llmb::runner
