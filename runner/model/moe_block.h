// MoeBlock: router, the chosen experts of every token, and the shared expert where the model has
// one. Routing happens on the sequence-parallel piece, so every token is routed once, and experts
// may be spread over ranks in any way that folds (ep, etp). Also the load-balancing loss.
#pragma once

#include <optional>
#include <string>

#include "runner/model/mlp_block.h"
#include "runner/model/stage_context.h"
#include "runner/model/token_exchange.h"

namespace llmb::runner {

template <typename Ops>
class MoeBlock {
 public:
  using Element = typename Ops::Element;
  using Tensor = typename Ops::Tensor;
  using ConstView = typename Ops::ConstView;
  using View = typename Ops::View;

  struct State {
    Tensor probabilities;               // (shard rows, experts)
    typename Ops::IndexTensor choices;  // (shard rows, k)
    Tensor weights;                     // (shard rows, k)
    Tensor balance;                     // (1, experts): d auxiliary loss / d probability
    typename Ops::ExpertOrder order;
    TokenExchange<Ops> exchange;
    // Rows of this rank's experts.
    Tensor inputs;   // (rows, hidden)
    Tensor before;   // (rows, ffn or 2 ffn)
    Tensor after;    // (rows, ffn)
    Tensor outputs;  // of this rank's tokens: (shard rows * k, hidden), not yet weighted
    typename MlpBlock<Ops>::State shared;
  };

  // `name` as in "layers.3."; `context` and `store` outlive it.
  MoeBlock(const StageContext& context, const ParameterStore<Element>& store,
           const std::string& name);

  // x and y (shard rows, hidden). auxiliary_loss (1, 1) += this rank's part of it: those of the
  // ranks that share the micro-batch add up.
  void forward(ConstView x, State& state, View y, typename Ops::TotalsView auxiliary_loss);
  // dx is overwritten. x as in forward. `auxiliary_scale` multiplies the auxiliary loss.
  void backward(ConstView x, const State& state, ConstView dy, double auxiliary_scale, View dx);

  // Calls `visit` with the experts' linear layers, `visit_shared` with the shared expert's.
  template <typename Visit, typename VisitShared>
  void visit_linears(const Visit& visit, const VisitShared& visit_shared) {
    visit(fc1_);
    visit(fc2_);
    if (shared_) shared_->visit_linears(visit_shared);
  }

 private:
  void balance(State& state, typename Ops::TotalsView auxiliary_loss) const;
  void run_experts(State& state, Tensor& local);
  void run_experts_backward(const State& state, ConstView d_local, Tensor& d_inputs);
  // Weights where they multiply, else none: on the experts' inputs (Llama 4) or their outputs.
  ConstView weights_if(bool here, const State& state) const;

  const StageContext& context_;
  typename Ops::RouterScore score_;
  bool weights_on_inputs_;
  Weight<Element> router_;
  LinearLayer<Ops> fc1_;  // (experts * ffn or 2 ffn, hidden)
  LinearLayer<Ops> fc2_;  // (experts * hidden, ffn)
  std::optional<MlpBlock<Ops>> shared_;
};

}  // namespace llmb::runner
